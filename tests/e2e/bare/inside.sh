#!/bin/sh
# inside.sh [--offline] ROOT USER COMMAND - run a shell command as a user in a root folder.
#
# It has processes and mounts of its own, which end with it; of this machine's file system it
# sees nothing but the root. --offline: a network of its own, too, with loopback only.
set -eu
net=
if [ "$1" = --offline ]; then
  net=--net
  shift
fi
root=$1 user=$2 command=$3
# shellcheck disable=SC2016 # for the inner shell
exec unshare --mount --pid $net --fork --kill-child sh -c '
  set -eu
  [ -z "$4" ] || ip link set lo up
  mount -t proc proc "$1/proc"
  mount -t tmpfs tmpfs "$1/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
  home=$(sed -n "s/^$2:.*:\([^:]*\):[^:]*$/\1/p" "$1/etc/passwd")
  exec chroot "$1" /usr/bin/env -i HOME="$home" USER="$2" LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    runuser -u "$2" -- sh -c "cd \"\$HOME\" && $3"
' inside "$root" "$user" "$command" "$net" </dev/null
