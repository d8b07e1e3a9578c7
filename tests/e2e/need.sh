#!/bin/sh
# What `make deps` and `make need` do about packages, with apt-get, sudo, id and dpkg-query
# played by scripts. Nothing is installed.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tools" "$folder/bin"
log=$folder/log
export log

# The system's tools, without those that could install something.
for tool in sh make env git pkg-config cat find ar printf script dirname rm mkdir sed grep; do
  path=$(command -v "$tool") || continue
  case $path in /*) ln -s "$path" "$folder/tools/$tool" ;; esac
done

ln -s /bin/true "$folder/tools/true"

player() { # player NAME SCRIPT
  printf '#!/bin/sh\n%s\n' "$2" >"$folder/bin/$1"
  chmod +x "$folder/bin/$1"
}
system() { # system UID SUDO PACKAGE...: who asks, what sudo says (none, yes, no), what is there
  rm -f "$folder"/bin/*
  player id "echo $1"
  player apt-get 'echo "apt-get $*" >>"$log"'
  case $2 in
  yes) player sudo 'echo "sudo $*" >>"$log"; [ "$1" != -n ] || shift; exec "$@"' ;;
  no) player sudo 'exit 1' ;;
  esac
  shift 2
  player dpkg-query "for p in $*; do printf '%s=installed ' \$p; done; printf 'old=config-files '"
  : >"$log"
}
ask() { # ask ANSWER PACKAGE...: need.sh at a terminal, an answer typed
  answer=$1
  shift
  at_terminal "$answer" "sh tests/need.sh $*"
}
at_terminal() { # at_terminal ANSWER COMMAND
  printf '%s\n' "$1" |
    PATH=$folder/bin:$folder/tools MAKEFLAGS='' script -qec "$2; echo code \$?" /dev/null \
      >"$folder/out" 2>&1
  code=$(sed -n 's/.*code \([0-9]*\).*/\1/p' "$folder/out")
}
go() { # go WORDS...: need.sh without a terminal
  PATH=$folder/bin:$folder/tools sh tests/need.sh "$@" >"$folder/out" 2>&1 </dev/null
  code=$?
}
check() { # check NAME CODE LOG-PATTERN|nothing TEXT-IN-OUTPUT
  fine=1
  [ "$code" = "$2" ] || fine=0
  case $3 in
  nothing) [ ! -s "$log" ] || fine=0 ;;
  *) grep -q -- "$3" "$log" || fine=0 ;;
  esac
  [ -z "$4" ] || grep -qF -- "$4" "$folder/out" || fine=0
  if [ $fine -eq 1 ]; then
    echo "ok - $1"
  else
    echo "FAIL - $1: code $code, log: $(tr '\n' ';' <"$log"), output: $(tr '\n' ';' <"$folder/out")"
    failures=1
  fi
}
failures=0
line='apt-get install -y --no-install-recommends two three'

system 0 none one two three
go one two three
check "nothing is called and nothing said when all packages are there" 0 nothing ""
[ ! -s "$folder/out" ] || { echo "FAIL - silence: $(cat "$folder/out")"; failures=1; }

system 0 none one
go one two three
check "root without a terminal installs what is missing, and only that" 0 \
  '^apt-get install -y -qq --no-install-recommends two three$' "$line"

system 0 none one
go one old
check "a package that was removed is missing" 0 'recommends old$' "recommends old"

system 1000 none one
go one two three
check "a user without sudo gets the line for an administrator" 2 nothing \
  "An administrator has to run: $line"

system 1000 no one
go one two three
check "so does a user whom sudo refuses" 2 nothing "An administrator has to run: $line"

system 1000 yes one
go one two three
check "a user with sudo installs through it" 0 '^sudo env .* apt-get install .* two three$' \
  "sudo $line"

if [ -x "$folder/tools/script" ]; then
  system 0 none one
  ask y one two three
  check "at a terminal it asks, and yes installs" 0 '^apt-get install .* two three$' 'Run this now?'
  [ "$(grep -c 'Run this now' "$folder/out")" -eq 1 ] || { echo "FAIL - asked once: $(cat "$folder/out")"; failures=1; }

  system 0 none one
  ask n one two three
  check "no installs nothing" 2 nothing 'Nothing was installed.'

  system 0 none one
  ask '' one two three
  check "an empty answer is no" 2 nothing 'Nothing was installed.'

  system 0 none one
  YES=1
  export YES
  ask n one two three
  unset YES
  check "YES=1 is the answer" 0 '^apt-get install .* two three$' "$line"
  ! grep -q 'Run this now' "$folder/out" || { echo "FAIL - YES=1 is not asked: $(cat "$folder/out")"; failures=1; }

  system 0 none one
  at_terminal y "make --no-print-directory need"
  check "make asks, too" 0 '^apt-get install .*liblua5.4-dev' 'Run this now?'
  asked=$(grep -c 'Run this now' "$folder/out")
  if [ "$asked" -eq 1 ]; then echo "ok - and once"; else
    echo "FAIL - and once: asked $asked times"
    failures=1
  fi

  system 1000 no one
  ask y one two three
  check "a user whom sudo refuses at a terminal gets the line too" 2 nothing \
    "An administrator has to run: $line"
else
  echo "skip - at a terminal it asks: the program script is not here"
fi

system 0 none one
player apt-get 'echo "$*" >>"$log"; [ "$1" = update ]'
go one two three
check "an installation that fails ends with code 2" 2 '^install' 'apt-get has failed'

system 0 none one
rm "$folder/bin/dpkg-query"
NEED_MODULES="no-such-module-a no-such-module-b"
export NEED_MODULES
go one two
check "without dpkg the missing libraries are named, nothing is installed" 2 nothing \
  "no-such-module-a no-such-module-b"
NEED_MODULES=
go one two
check "without dpkg nothing is missing when pkg-config knows all" 0 nothing ""
unset NEED_MODULES

make_with() { # make_with TARGET...
  PATH=$folder/bin:$folder/tools MAKEFLAGS='' make --no-print-directory "$@" >"$folder/out" 2>&1 </dev/null
  code=$?
}
system 0 yes
make_with deps
check "make deps calls nothing" 0 nothing "apt-get install -y"
if [ "$(wc -l <"$folder/out")" -eq 1 ]; then
  echo "ok - make deps prints one line"
else
  echo "FAIL - make deps prints one line: $(cat "$folder/out")"
  failures=1
fi
packages=$(sed 's/.*recommends //' "$folder/out")

# shellcheck disable=SC2086 # a list of packages
system 0 yes $packages
make_with need
check "make need calls nothing when the packages of make deps are there" 0 nothing ""

system 0 yes gcc
make_with need
check "make need installs the others" 0 '^sudo\|^apt-get install .*liblua5.4-dev' "apt-get install"
if grep -qE 'clang|cppcheck|lua-check|valgrind|debootstrap|dpkg-dev' "$log" ||
  echo "$packages" | grep -qE 'clang|cppcheck|lua-check|valgrind|debootstrap|dpkg-dev'; then
  echo "FAIL - the tools of lint, fuzz and the long tests are not among them: $(cat "$log")"
  failures=1
else
  echo "ok - the tools of lint, fuzz and the long tests are not among them"
fi
exit $failures
