#!/bin/sh
# .ci/run adds the totals of both targets and never hides a failure. `make` is played by a
# script that prints what a case says.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tree/.ci" "$folder/bin"
cp .ci/run "$folder/tree/.ci/run"
printf '#!/bin/sh\n. "$0.$1"\n' >"$folder/bin/make"
chmod +x "$folder/bin/make"
failures=0

check() { # check NAME SCRIPT-OF-TEST SCRIPT-OF-TEST-LONG LAST-LINE EXIT-CODE
  printf '%s\n' "$2" >"$folder/bin/make.test"
  printf '%s\n' "$3" >"$folder/bin/make.test-long"
  PATH=$folder/bin:$PATH bash "$folder/tree/.ci/run" >"$folder/out" 2>&1
  code=$?
  last=$(tail -n 1 "$folder/out")
  count=$(grep -cE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$folder/out")
  if [ "$last" = "$4" ] && [ $code -eq "$5" ] && [ "$count" -eq 1 ]; then
    echo "ok - $1"
  else
    echo "FAIL - $1: got '$last', exit code $code, $count totals"
    failures=1
  fi
}

good='echo "3 passed, 0 failed, 2 skipped"'
check "the totals of both forms are added" "$good" 'echo "4 passed, 0 failed, 1 skipped"' \
  '7 passed, 0 failed, 3 skipped' 0
check "a failed test fails the run" "$good" 'echo "4 passed, 1 failed, 0 skipped"; exit 1' \
  '7 passed, 1 failed, 2 skipped' 1
check "a failed test is not counted twice" 'echo "1 passed, 2 failed, 0 skipped"; exit 2' "$good" \
  '4 passed, 2 failed, 2 skipped' 1
check "a target that ends badly after its total is a failure" "$good" "$good; exit 2" \
  '6 passed, 1 failed, 4 skipped' 1
check "a target without a total is a failure" "$good" 'echo "cc: no such file"; exit 1' \
  '3 passed, 1 failed, 2 skipped' 1
check "a last line without its end is still read" "$good" 'printf "4 passed, 0 failed, 0 skipped"' \
  '7 passed, 0 failed, 2 skipped' 0
exit $failures
