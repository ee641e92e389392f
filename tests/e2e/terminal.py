#!/usr/bin/env python3
"""Runs a program on a terminal of its own and prints what that shows.

    terminal.py [--columns N] [--keys KEYS] [--files stderr|both] PROGRAM [ARGUMENT...]

KEYS is typed at the first question, [Y/n] or [y/N]; with ";" in between, the next part at the next
question. With --files, stderr or both outputs go to files of these names in the working folder.
The exit status is the program's, and 99 where it had to be killed.
"""

import argparse
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

LIMIT_S = 30
LINES = 40


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--columns", type=int, default=1000)
    parser.add_argument("--keys", default="")
    parser.add_argument("--files", choices=["stderr", "both"])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    keys = [part.encode() for part in options.keys.encode().decode("unicode_escape").split(";")]
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, options.columns, 0, 0))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        if options.files:
            os.dup2(os.open("stderr", flags), 2)
        if options.files == "both":
            os.dup2(os.open("stdout", flags), 1)
        os.execv(options.command[0], options.command)
    shown, answered, end = b"", 0, time.time() + LIMIT_S
    while time.time() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        questions = len(re.findall(rb"\[Y/n\] |\[y/N\] ", shown))
        if answered < min(len(keys), questions):
            os.write(terminal, keys[answered])
            answered += 1
    else:
        os.kill(child, 9)
    sys.stdout.write(shown.decode().replace("\r\n", "\n"))
    status = os.waitpid(child, 0)[1]
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 99


if __name__ == "__main__":
    sys.exit(main())
