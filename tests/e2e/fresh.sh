#!/bin/sh
# fresh.sh BUILD - the two commands and the package on bare Debian 12 roots (debootstrap,
# minbase), where git, make and certificates are all that was added.
#
# In one root everything is done as root: `make quickstart`, which installs what is missing,
# `make test`, `make install` and its way back. In a second one, without sudo, a user gets the
# line for an administrator; after that line the user runs both commands, installs below the
# home folder, moves that and removes it, all in a network that has only loopback. In a third
# one the package that the first one built is installed with its libraries, run, removed.
# It takes about ten minutes on two idle cores and belongs to the long form.
set -u
here=$(pwd)
mirror=${SKILLOPT_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' \
  'Created-By: Packages' 2>/dev/null | sed -n 's|/* bookworm$||p' | head -n 1)}
name="the two commands on a bare Debian"
case ${SKILLOPT_TEST_FORM:-short} in
short)
  echo "skip - $name: long form only"
  exit 0
  ;;
esac
reason=$(sh tests/e2e/bare/possible.sh)
if [ -n "$reason" ]; then
  echo "skip - $name: $reason"
  exit 0
fi

top=$(mktemp -d "${TMPDIR:-/tmp}/skillopt-bare.XXXXXX") || exit 1
clean() { rm -rf --one-file-system "$top"; }
trap clean EXIT
trap 'exit 130' INT TERM HUP
failures=0
verdict() { # verdict NAME CODE WHY
  if [ "$2" -eq 0 ]; then
    echo "ok - $1"
  else
    echo "FAIL - $1: $3"
    failures=1
  fi
}
out=$top/out
example=configs/houserules/experiment.lua
inside() { sh tests/e2e/bare/inside.sh "$@" >"$out" 2>&1; }
why() { tail -n 15 "$out"; }
source_to() { # source_to ROOT FOLDER USER: a clone as anybody has it, with what is not committed
  mkdir -p "$1$2"
  git -c safe.directory='*' clone -q "file://$here" "$1$2"
  git -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
    tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$1$2"
  chroot "$1" chown -R "$3:" "$2"
}
listing() { (cd "$1" && find usr/local root home opt -xdev 2>/dev/null | LC_ALL=C sort); }

# ------------------------------------------------------------------------- the roots
debootstrap --variant=minbase bookworm "$top/base" "$mirror" >"$out" 2>&1
verdict "a bare Debian is made" $? "$(why)"
[ $failures -eq 0 ] || exit 1
printf '127.0.0.1 localhost\n::1 localhost\n' >"$top/base/etc/hosts"
# What dpkg does to survive a power cut is not needed here.
echo force-unsafe-io >"$top/base/etc/dpkg/dpkg.cfg.d/unsafe-io"
inside "$top/base" root "apt-get update -qq && apt-get install -y git make ca-certificates"
verdict "git, make and certificates are added" $? "$(why)"
[ $failures -eq 0 ] || exit 1
cp -a "$top/base" "$top/user" && cp -a "$top/base" "$top/deb" && mv "$top/base" "$top/root"

# --------------------------------------------------------------------------- as root
source_to "$top/root" /root/skillopt root
inside "$top/root" root "cd skillopt && make deps"
[ $? -eq 0 ] && grep -q '^apt-get install' "$out"
verdict "root: make deps prints the line" $? "$(why)"
inside "$top/root" root "cd skillopt && make quickstart"
[ $? -eq 0 ] && grep -q '^best skill: outputs/houserules/' "$out"
verdict "root: make quickstart installs, builds and trains" $? "$(why)"
inside "$top/root" root "cd skillopt && make test"
[ $? -eq 0 ] && grep -q '^[0-9]* passed, 0 failed' "$out"
verdict "root: make test passes ($(tail -n 1 "$out"))" $? "$(grep '^FAIL' "$out"; why)"
listing "$top/root" | grep -v '^root/' >"$top/before"
inside "$top/root" root "make -C skillopt install && mkdir -p /tmp/elsewhere && cd /tmp/elsewhere &&
  skillopt-train $example && rm -r /tmp/elsewhere"
verdict "root: make install, and the example from another folder" $? "$(why)"
inside "$top/root" root "make -C skillopt uninstall"
code=$?
listing "$top/root" | grep -v '^root/' >"$top/after"
[ $code -eq 0 ] && cmp -s "$top/before" "$top/after"
verdict "root: make uninstall leaves nothing" $? \
  "$(diff "$top/before" "$top/after" | head -n 5; why)"
inside "$top/root" root "cd skillopt && make deb"
verdict "root: make deb" $? "$(why)"

# ------------------------------------------------------------------- as a user, no sudo
cp "$top/root"/var/cache/apt/archives/*.deb "$top/user/var/cache/apt/archives/" 2>/dev/null
chroot "$top/user" useradd --create-home --shell /bin/sh somebody
source_to "$top/user" /home/somebody/skillopt somebody
inside "$top/user" somebody "cd skillopt && make quickstart"
code=$?
line=$(sed -n 's/^An administrator has to run: //p' "$out")
[ $code -eq 2 ] && [ -n "$line" ]
verdict "user: make quickstart names the line for an administrator, exit code 2" $? \
  "code $code: $(why)"
inside "$top/user" root "$line"
verdict "user: the line is all that an administrator has to do" $? "$(why)"
inside --offline "$top/user" somebody "cd skillopt && make quickstart"
[ $? -eq 0 ] && grep -q '^best skill: outputs/houserules/' "$out"
verdict "user: make quickstart builds and trains with nothing but loopback" $? "$(why)"
inside --offline "$top/user" somebody "cd skillopt && make test"
[ $? -eq 0 ] && grep -q '^[0-9]* passed, 0 failed' "$out"
verdict "user: make test passes with nothing but loopback ($(tail -n 1 "$out"))" $? \
  "$(grep '^FAIL' "$out"; why)"
listing "$top/user" >"$top/before"
inside --offline "$top/user" somebody "make -C skillopt install PREFIX=\$HOME/.local &&
  mv .local moved && mkdir work && cd work &&
  \$HOME/moved/bin/skillopt run $example &&
  \$HOME/moved/bin/skillopt replay outputs/houserules/latest --verify"
verdict "user: installed below the home folder, moved, run" $? "$(why)"
inside --offline "$top/user" somebody "rm -r work && make -C skillopt uninstall PREFIX=\$HOME/moved"
code=$?
listing "$top/user" >"$top/after"
[ $code -eq 0 ] && cmp -s "$top/before" "$top/after"
verdict "user: uninstalled, nothing is left" $? \
  "$(diff "$top/before" "$top/after" | head -n 5; why)"

# -------------------------------------------------------------------------- the package
cp "$top/root"/root/skillopt/skillopt_*.deb "$top/deb/root/"
listing "$top/deb" >"$top/before"
inside "$top/deb" root "apt-get install -y ./skillopt_*.deb"
verdict "package: apt installs it with its libraries" $? "$(why)"
inside "$top/deb" root "mkdir /tmp/w && cd /tmp/w && skillopt run $example &&
  skillopt --version && rm -r /tmp/w"
[ $? -eq 0 ] && grep -q '^best skill:' "$out" && grep -q '  libzip ' "$out"
verdict "package: the example runs from any folder" $? "$(why)"
inside "$top/deb" root "apt-get remove -y skillopt && ! ls -d /usr/share/skillopt /usr/bin/skillopt*"
verdict "package: removed, nothing is left" $? "$(why)"

mounts=$(grep -c " $top" /proc/mounts)
clean
[ "$mounts" = 0 ] && [ ! -e "$top" ]
verdict "no mount and no file of the roots is left" $? "$mounts mounts, $(ls "$top" 2>&1)"
exit $failures
