#!/bin/sh
# run.sh BUILD [short|long|full] - run the tests, print every line that is not
# `ok`, and end with `N passed, N failed, N skipped`. A program that dies or
# prints no line counts as one failure.
set -u
build=$1
form=${2:-short}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
run() { # run NAME COMMAND...
  name=$1
  shift
  before=$(wc -l <"$out")
  SKILLOPT_TEST_FORM=$form "$@" >"$out.part" 2>"$out.err"
  code=$?
  cat "$out.part" >>"$out"
  grep -E '^(FAIL|skip) - ' "$out.part"
  if [ $code -ne 0 ] && ! grep -q '^FAIL - ' "$out.part"; then
    echo "FAIL - $name: exit code $code" | tee -a "$out"
    tail -n 20 "$out.err"
  elif [ "$(wc -l <"$out")" -eq "$before" ]; then
    echo "FAIL - $name: ran no test" | tee -a "$out"
  elif words=$(grep -E '^[^ ]+\.sh: (line )?[0-9]+: .*not found$' "$out.err"); then
    echo "FAIL - $name: $words" | tee -a "$out"
  fi
  rm -f "$out.part" "$out.err"
}
for t in "$build"/tests/test_*; do
  [ -f "$t" ] && [ -x "$t" ] && run "$(basename "$t")" "$t"
done
[ -x "$build/skillopt" ] && run "tests/lua" "$build/skillopt" test tests/lua
# Proofs that count in the hundreds: their long form belongs to test-full, so that
# test-long keeps its hour on two cores.
wanted=$form
for t in tests/e2e/*.sh; do
  form=$wanted
  case $wanted,$(basename "$t") in
  long,faults.sh | long,kills.sh | long,flips.sh | long,disk.sh | long,react.sh | \
    long,early_stop.sh | long,alfworld.sh) form=short ;;
  esac
  [ -f "$t" ] && run "$t" sh "$t" "$build"
done
passed=$(grep -c '^ok - ' "$out")
failed=$(grep -c '^FAIL - ' "$out")
skipped=$(grep -c '^skip - ' "$out")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
