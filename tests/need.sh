#!/bin/sh
# need.sh PACKAGE... - see to it that these Debian packages are installed.
#
# When they are, nothing is said and no package manager is called. Else the one line that
# installs what is missing is shown; a person at a terminal is asked once (YES=1 answers),
# without a terminal it goes on. Who may not install gets the line for an administrator
# and exit code 2. On a system without dpkg the modules in $NEED_MODULES must be known to
# pkg-config; nothing is installed there.
set -u

refuse() { # refuse LINE...
  printf '%s\n' "$@" >&2
  exit 2
}

if ! command -v dpkg-query >/dev/null 2>&1; then
  missing=
  for module in ${NEED_MODULES:-}; do
    pkg-config --exists "$module" 2>/dev/null || missing="$missing $module"
  done
  [ -n "$missing" ] || exit 0
  refuse "These libraries are missing (names of pkg-config):$missing" \
    "Install them and repeat the command; README.md has the names of the packages."
fi

installed=" $(dpkg-query -W -f='${Package}=${db:Status-Status} ' "$@" 2>/dev/null) "
missing=
for package in "$@"; do
  case $installed in
  *" $package=installed "*) ;;
  *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

line="apt-get install -y --no-install-recommends$missing"
for_administrator="An administrator has to run: $line"
command -v apt-get >/dev/null 2>&1 || refuse "These packages are missing:$missing"

as_root=
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || refuse "$for_administrator"
  as_root=sudo
  [ -t 0 ] || sudo -n true 2>/dev/null || refuse "$for_administrator"
fi

echo "${as_root:+sudo }$line"
if [ "${YES:-}" != 1 ] && [ -t 0 ]; then
  printf 'Run this now? [y/N] '
  read -r answer || answer=
  case $answer in
  y | Y | yes | Yes | YES) ;;
  *) refuse "Nothing was installed." ;;
  esac
fi
if [ -n "$as_root" ]; then
  sudo true || refuse "$for_administrator"
fi
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends $missing || refuse "apt-get has failed: see above"
