#!/bin/sh
# tsan.sh BUILD - what has threads under ThreadSanitizer: the loop, the journal, processes and
# HTTP in C; short runs in the process, over HTTP with faults, and with child processes. Each
# also has to end: a wake-up that is lost shows as a time that is over. Ends with
# `N passed, N failed, N skipped`.
set -u
build=$1
. tests/stub/stub.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
# The sanitizer waits a second at each end of a process, unless told otherwise.
export TSAN_OPTIONS=atexit_sleep_ms=0:exitcode=66

check() { # check NAME COMMAND...
  name=$1
  shift
  timeout 600 "$@" >"$work/out" 2>&1
  code=$?
  if [ $code -eq 0 ] && ! grep -q 'WARNING: ThreadSanitizer' "$work/out"; then
    passed=$((passed + 1))
    echo "ok - $name under TSan"
  else
    failed=$((failed + 1))
    echo "FAIL - $name under TSan: exit code $code"
    grep '^FAIL' "$work/out" | head -n 5
    grep -A 30 'WARNING: ThreadSanitizer' "$work/out" | head -n 60
  fi
}
over_http() { # over_http NAME ARGUMENT...: a run against the stub that was started
  name=$1
  shift
  check "$name" env SKILLOPT_PATH=tests/programs/react OPENAI_COMPATIBLE_BASE_URL="$stub_url/v1" \
    OPENAI_COMPATIBLE_API_KEY=a-key-of-the-test "$build/skillopt" run "$@" --quiet
  stub_stop
}

for t in fault file http journal lock log loop process; do
  check "test_$t" "$build/tests/test_$t"
done
check "a run in the process" "$build/skillopt" run configs/houserules/experiment.lua --quiet \
  train.num_epochs=1 env.out_root="$work/sim"
i=0
while [ $i -lt 24 ]; do
  i=$((i + 1))
  printf '{"id": "b%d", "question": "Which colour has box %d?", "answers": ["red"], "files": {"box%d.txt": "colour: red"}}\n' \
    $i $i $i >>"$work/boxes.jsonl"
  printf '{"id": "q%d", "question": "Is thing %d good?", "answers": ["yes"], "context": "[DOC] Thing %d is good."}\n' \
    $i $i $i >>"$work/items.jsonl"
done
stub_start "$build" --script tests/stub/scripts/qa.lua --retry-after 0 --fail-share 0.05 \
  --fault rate_limit,500,cut
over_http "a run over HTTP with faults" --config configs/searchqa/default.yaml model.target=tgt \
  model.optimizer=opt train.train_size=0 train.num_epochs=1 train.batch_size=6 \
  env.split_mode=ratio env.data_path="$work/items.jsonl" env.out_root="$work/http"
stub_start "$build" --script tests/e2e/faults/react_stub.lua
over_http "a run with child processes" tests/e2e/faults/react/experiment.lua sandbox=none \
  env.data_path="$work/boxes.jsonl" env.out_root="$work/react"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
