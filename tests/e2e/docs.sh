#!/bin/sh
# docs.sh BUILD [PAGE...] - every shell block of README.md and docs/*.md is run, page by page,
# in a scratch folder, with the built program on PATH; what a console block shows is what it
# prints. docs/blocks.lua has the rules. Blocks that are not run are skipped tests, with why.
set -u
here=$(pwd)
case $1 in /*) build=$1 ;; *) build=$here/$1 ;; esac
shift
if [ $# -eq 0 ]; then
  set -- README.md docs/*.md
  # Each rule finds what is planted against it.
  if SKILLOPT_TEST_FORM=short sh tests/e2e/docs.sh "$build" tests/e2e/docs/planted.md | cut -c1-99 |
    diff tests/e2e/docs/planted.txt - >/dev/null; then
    echo "ok - what is planted in a page is found"
  else
    echo "FAIL - what is planted in a page is found: compare tests/e2e/docs/planted.txt"
    planted=1
  fi
fi
. tests/stub/stub.sh
form=${SKILLOPT_TEST_FORM:-short}
top=$(mktemp -d) || exit 1
trap 'rm -rf "$top"' EXIT
failures=${planted:-0} left_out=0 run=0
mkdir "$top/bin" "$top/home"
for name in skillopt skillopt-train skillopt-eval; do ln -s "$build/skillopt" "$top/bin/$name"; done
tab=$(printf '\t')

fail() {
  echo "FAIL - $1: $2"
  failures=1
}
play() { # play SCRIPT OUTPUT [NAME=VALUE]: a page's script, in its folder
  (cd "$work" && env -i HOME="$top/home" LANG=C.UTF-8 TMPDIR="$top" \
    PATH="$top/bin:/usr/local/bin:/usr/bin:/bin" ${3:+"$3"} timeout 300 sh -e "$1") >"$2" 2>&1 </dev/null
}
block() { # block KIND NUMBER OPTION VALUE NAME
  script=$plan/$2.sh wanted=0 server=
  case $3 in
  exit) wanted=$4 ;;
  stub)
    stub_start "$build" --script "$here/tests/stub/scripts/$4.lua" || fail "$5" "the stub does not start"
    server=OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1
    ;;
  esac
  play "$script" "$plan/out" "$server"
  code=$?
  [ "$3" != stub ] || stub_stop
  if [ $code -ne "$wanted" ]; then
    fail "$5" "exit code $code: $(tail -n 3 "$plan/out")"
  elif [ "$1" = show ] && ! why=$("$build/skillopt" lua tests/e2e/docs/blocks.lua compare \
    "$plan/$2.shown" "$plan/out"); then
    mkdir -p build/docs
    got=build/docs/$(basename "$page").$2
    cp "$plan/out" "$got"
    fail "$5" "$why (all that was printed: $got)"
  else
    echo "ok - $5"
    run=$((run + 1))
  fi
}

for page in "$@"; do
  plan=$top/plan work=$top/work
  rm -rf "$plan" "$work"
  mkdir "$plan" "$work"
  if ! "$build/skillopt" lua tests/e2e/docs/blocks.lua plan "$page" "$plan" >"$plan/list" 2>&1; then
    fail "$page can be read" "$(head -n 1 "$plan/list")"
    continue
  fi
  while IFS=$tab read -r kind number line option value; do
    name="$page:$line"
    case $kind.$option in
    file.*) mkdir -p "$(dirname "$work/$value")" && cp "$plan/$number.file" "$work/$value" ;;
    wrong.*) fail "$name" "$value" ;;
    *."not run")
      left_out=$((left_out + 1))
      echo "skip - $name: marked as not to be run ($value)"
      ;;
    *.long) if [ "$form" = short ]; then
      echo "skip - $name: long form only ($value)"
    else block "$kind" "$number" - - "$name"; fi ;;
    *) block "$kind" "$number" "$option" "$value" "$name" ;;
    esac
  done <"$plan/list"
done
echo "# $run blocks were run, $left_out are marked as not to be run"
[ $run -gt 0 ] || fail "there are blocks to run" "none was found"
exit $failures
