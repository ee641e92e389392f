#!/bin/sh
# For the Epilog of slurm.conf, made by `gpkg deploy --epilog`: removes from a node what `gpkg deploy`
# brought there for a job that has ended. Install it where every node finds it, executable and
# writable by root alone, and name it in slurm.conf (or call it from the Epilog that there is):
#
#   Epilog=/etc/slurm/gpkg-epilog
#
# slurmd runs it as root. It removes only a folder called gpkg-job-NUMBER that belongs to the user of the
# job, and does so with that user's rights, so that no link leads it elsewhere. Its status is always
# 0: any other would drain the node.
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
