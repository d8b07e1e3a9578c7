#!/bin/sh
# valgrind.sh BUILD - the tests in C, those in Lua that start no other program, and a run
# under valgrind: reads of what was never written, writes beyond the end, leaks. Ends with
# `N passed, N failed, N skipped`. Tests that measure or wait for time are left out: under
# valgrind a program is thirty times slower.
set -u
build=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
TIMED=" test_http test_stub test_process "

check() { # check NAME COMMAND...
  name=$1
  shift
  if timeout 600 valgrind -q --error-exitcode=99 --leak-check=full \
    --errors-for-leak-kinds=definite --log-file="$work/log" "$@" >"$work/out" 2>&1; then
    passed=$((passed + 1))
    echo "ok - $name under valgrind"
  else
    code=$?
    failed=$((failed + 1))
    echo "FAIL - $name under valgrind: exit code $code"
    grep '^FAIL' "$work/out" | head -n 5
    head -n 40 "$work/log"
  fi
}

for t in "$build"/tests/test_*; do
  name=$(basename "$t")
  [ -x "$t" ] && [ "${name%.*}" = "$name" ] || continue
  case $TIMED in
  *" $name "*)
    skipped=$((skipped + 1))
    echo "skip - $name under valgrind: its times are real ones"
    ;;
  *) check "$name" "$t" ;;
  esac
done
for name in archive digest document file game journal json order pairs \
  reply rng score task_core template text tree yaml; do
  t=tests/lua/${name}_test.lua
  [ -f "$t" ] && check "$t" "$build/skillopt" test "$t"
done
check "a training run" "$build/skillopt" run configs/houserules/experiment.lua \
  train.num_epochs=1 "env.out_root=$work/run"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
