#!/bin/sh
echo "hello from @PREFIX@, set by activation: ${HELLO_HOME:-nothing}"
