#!/bin/sh
# Epilog for slurm.conf, written by `gpkg deploy --epilog`. It removes from a node the copies that
# `gpkg deploy` made for a job that has ended. Put it where every node finds it, executable and
# writable only by root, and name it in slurm.conf (or call it from an existing Epilog):
#
#   Epilog=/etc/slurm/gpkg-epilog
#
# slurmd runs it as root. It removes only folders named gpkg-job-NUMBER that belong to the user of the
# job, with that user's rights, so that no link can lead it elsewhere. The exit status is always 0:
# any other status would drain the node.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
job=${SLURM_JOB_ID:-} user=${SLURM_JOB_UID:-}
case $job in '' | *[!0-9]*) exit 0 ;; esac
case $user in '' | *[!0-9]*) exit 0 ;; esac
as_user() {
    if [ "$user" = 0 ]; then
        "$@"
    elif command -v setpriv > /dev/null; then
        setpriv --reuid="$user" --regid=65534 --clear-groups "$@"
    else
        runuser -u "$(id -un -- "$user")" -- "$@"
    fi
}
name=${SLURM_JOB_USER:-$(id -un -- "$user" 2> /dev/null)}
case $name in '' | */* | .*) name=nobody ;; esac
for folder in @FOLDERS@; do
    at=$folder/gpkg-job-$job
    [ -d "$at" ] && [ ! -L "$at" ] && [ "$(stat -c %u -- "$at")" = "$user" ] || continue
    as_user rm -rf -- "$at" 2> /dev/null || {
        as_user chmod -R u+rwx -- "$at"
        as_user rm -rf -- "$at"
    }
done
exit 0
