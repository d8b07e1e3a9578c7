#!/bin/sh
# need.sh PACKAGE... - install Debian packages that are missing, or say what to do.
set -u
if ! command -v apt-get >/dev/null 2>&1; then
  echo "These packages are missing (Debian's names): $*" >&2
  echo "Install them with your system's package manager and repeat the command." >&2
  exit 2
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "An administrator has to run: apt-get install -y $*" >&2
    exit 2
  fi
  as_root=sudo
fi
echo "installing: $*"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
