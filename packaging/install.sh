#!/bin/sh
# install.sh install|uninstall - put the program below $DESTDIR$PREFIX, or take it away.
#
# BUILD is the folder with the program, SHIPPED the trees that go along. What was put there,
# and which folders had to be made for it, stands in share/skillopt/MANIFEST, relative to
# the prefix: a prefix can be moved, and uninstalling removes these and nothing else. An
# earlier installation in the same prefix is removed first.
set -eu
export LC_ALL=C
prefix=${PREFIX:?}
case $prefix in
/*) ;;
*)
  echo "PREFIX must be absolute, not $prefix" >&2
  exit 2
  ;;
esac
root=${DESTDIR:-}$prefix
share=share/skillopt
manifest=$root/$share/MANIFEST

uninstall() {
  list=$(cat "$manifest")
  printf '%s\n' "$list" | grep -v '/$' | while IFS= read -r name; do rm -f "$root/$name"; done
  rm -f "$manifest"
  # Sorted backwards, a folder stands behind what is in it; "./" is the prefix itself.
  printf '%s\n' "$list" | grep '/$' | sort -r | while IFS= read -r name; do
    rmdir "$root/${name#./}" 2>/dev/null || true # not when others put something there
  done
}

folder() { # folder NAME: below the prefix, with those above it
  [ ! -d "$root/$1" ] || return 0
  case $1 in
  */*) folder "${1%/*}" ;;
  esac
  mkdir "$root/$1"
  printf '%s/\n' "$1" >>"$list"
}

place() { # place MODE SOURCE NAME
  folder "${3%/*}"
  install -m "$1" "$2" "$root/$3"
  printf '%s\n' "$3" >>"$list"
}

link() { # link TARGET NAME
  ln -sf "$1" "$root/$2"
  printf '%s\n' "$2" >>"$list"
}

install_all() {
  if [ -f "$manifest" ]; then uninstall; fi
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  list=$tmp/list
  if [ ! -d "$root" ]; then
    mkdir -p "$root"
    echo ./ >"$list"
  fi
  place 755 "${BUILD:?}/skillopt" bin/skillopt
  link skillopt bin/skillopt-train
  link skillopt bin/skillopt-eval
  # shellcheck disable=SC2086 # a list of folders
  find ${SHIPPED:?} -type f ! -name '.*' ! -name '*~' | sort >"$tmp/files"
  while IFS= read -r file; do place 644 "$file" "$share/$file"; done <"$tmp/files"
  for shell in bash zsh; do
    "$BUILD/skillopt" lua packaging/generate.lua "$shell" >"$tmp/$shell"
  done
  place 644 "$tmp/bash" share/bash-completion/completions/skillopt
  place 644 "$tmp/zsh" share/zsh/site-functions/_skillopt
  place 644 docs/skillopt.1 share/man/man1/skillopt.1
  for file in LICENSE README.md CHANGELOG.md CITATION.cff; do
    place 644 "$file" "share/doc/skillopt/$file"
  done
  install -m 644 "$list" "$manifest"
}

case ${1:-} in
install) install_all ;;
uninstall)
  if [ ! -f "$manifest" ]; then
    echo "nothing is installed below $root ($share/MANIFEST is not there)" >&2
    exit 2
  fi
  uninstall
  ;;
*)
  echo "usage: install.sh install|uninstall" >&2
  exit 2
  ;;
esac
