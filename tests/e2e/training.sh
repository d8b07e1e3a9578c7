#!/bin/sh
# training.sh BUILD - whole runs over HTTP against the scripted provider: real text, roles,
# faults, logins, interrupts.
set -u
build=$1
bin=$build/skillopt
here=$(pwd)
. tests/stub/stub.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
key=secret-key-of-sixteen-and-more
train() { # train FOLDER [KEY=VALUE...]: against the last stub
  folder=$1
  shift
  OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 OPENAI_COMPATIBLE_API_KEY=$key "$bin" run \
    --config configs/searchqa/default.yaml --quiet env.out_root="$folder" model.target=tgt \
    model.optimizer=opt train.train_size=0 train.num_epochs=1 train.batch_size=8 \
    env.split_mode=ratio env.data_path="$tmp/items.jsonl" "$@" >"$folder.out" 2>"$folder.err"
}
i=0
while [ $i -lt 60 ]; do
  i=$((i + 1))
  printf '{"id": "q%d", "question": "Is thing %d good?", "answers": ["yes"], "context": "[DOC] Thing %d is %s."}\n' \
    $i $i $i "$([ $((i % 3)) -eq 0 ] && echo bad || echo good)" >>"$tmp/items.jsonl"
done

stub_start "$build" --script tests/stub/scripts/qa.lua --key $key
train "$tmp/plain"
say $? "a run over HTTP ends" "$(tail -n 3 "$tmp/plain.err")"
stub_stop
cp -r "$tmp/plain" "$tmp/reference"
if grep -rqF "$key" "$tmp/plain"; then echo "FAIL - the key is in no file: $(grep -rlF "$key" "$tmp/plain")"; else echo "ok - the key is in no file"; fi

for name in pubmedqa_120 xquad_en_100 xquad_zh_60; do
  data=${SKILLOPT_SHARED:-../shared}/data/converted/searchqa_$name.json
  if [ ! -f "$data" ]; then
    skip "real text ($name) trains end to end" "$data is not there"
    continue
  fi
  stub_start "$build" --script tests/stub/scripts/qa.lua
  train "$tmp/$name" env.data_path="$data"
  say $? "real text ($name) trains end to end" "$(tail -n 3 "$tmp/$name.err")"
  stub_stop
  out=$("$bin" replay "$tmp/$name" --verify 2>&1)
  say $? "the run on $name replays equal" "$out"
done

# Faults that pass: the same bytes as without them, and no fault is a mark.
stub_start "$build" --script tests/stub/scripts/qa.lua --fail-share 0.05 --retry-after 0 --slow-ms 50 \
  --fault rate_limit,500,503,cut,slow,invalid_json,html,empty_choices
train "$tmp/faults"
say $? "a run with 5 % faults ends" "$(tail -n 3 "$tmp/faults.err")"
stub_stop
has "$tmp/faults/log.jsonl" '"event": "retry"' "faults are retried and logged"
out=$("$bin" lua tests/e2e/compare.lua "$tmp/reference" "$tmp/faults")
say $? "faults that pass leave no trace in what was measured" "$out"

# Faults that stay: failed items count nowhere.
stub_start "$build" --script tests/stub/scripts/qa.lua --fail-always 0.04 --fault 500
train "$tmp/always" model.retries=1
code=$?
stub_stop
if [ $code -eq 0 ] || [ $code -eq 7 ]; then echo "ok - faults that stay end the run or leave items failed"; else echo "FAIL - faults that stay: exit $code $(tail -n 3 "$tmp/always.err")"; fi
if grep -rh '"state": "failed"' "$tmp/always" --include=results.jsonl | grep -q '"hard"'; then
  echo "FAIL - a failed row has no mark: $(grep -rh '"state": "failed"' "$tmp/always" --include=results.jsonl | head -n 1)"
else
  echo "ok - a failed row has no mark"
fi

# A wrong login stops the run at the first call, with its reason and code.
stub_start "$build" --script tests/stub/scripts/qa.lua --key another-key-that-is-right
train "$tmp/login"
is $? 4 "a wrong login ends with exit code 4"
has "$tmp/login.err" "auth" "a wrong login is named"
n=$(grep -c . "$tmp/login/log.jsonl" 2>/dev/null || echo 0)
if find "$tmp/login" -name results.jsonl | grep -q .; then echo "FAIL - a wrong login measures nothing"; else echo "ok - a wrong login measures nothing"; fi
stub_stop

# No server at all.
stub_url=http://127.0.0.1:9
train "$tmp/nobody" model.retries=1
is $? 4 "no server ends with exit code 4"
has "$tmp/nobody.err" "is a server listening" "no server is named with what to do"

# Each role goes to its own server with its own model.
stub_start "$build" --script tests/stub/scripts/qa.lua --log "$tmp/target.log"
target_url=$stub_url target_pid=$stub_pid
stub_start "$build" --script tests/stub/scripts/qa.lua --log "$tmp/optimizer.log"
TARGET_OPENAI_COMPATIBLE_BASE_URL=$target_url/v1 OPTIMIZER_OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 \
  train "$tmp/roles" model.target=tgt-y model.optimizer=opt-x
say $? "a run with two servers ends" "$(tail -n 3 "$tmp/roles.err")"
stub_stop "$target_pid"
stub_stop
is "$(grep -c '"model": "tgt-y"' "$tmp/target.log")" "$(grep -c . "$tmp/target.log")" "every rollout goes to the target's server"
is "$(grep -c '"model": "opt-x"' "$tmp/optimizer.log")" "$(grep -c . "$tmp/optimizer.log")" "every optimizer call goes to the optimizer's server"

# An interrupt lets what is in flight come in; the same command goes on.
stub_start "$build" --script tests/stub/scripts/qa.lua --latency-ms 300 --key $key
OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 OPENAI_COMPATIBLE_API_KEY=$key "$bin" run \
  --config configs/searchqa/default.yaml --quiet env.out_root="$tmp/stopped" model.target=tgt \
  model.optimizer=opt train.train_size=0 train.num_epochs=1 train.batch_size=8 \
  env.split_mode=ratio env.data_path="$tmp/items.jsonl" >"$tmp/stopped.out" 2>"$tmp/stopped.err" &
pid=$!
sleep 1
kill -INT $pid
wait $pid
is $? 130 "an interrupted run ends with exit code 130"
grep -q 'the same command goes on from there' "$tmp/stopped.err"
say $? "an interrupted run says how to go on" "$(cat "$tmp/stopped.err")"
stub_stop
stub_start "$build" --script tests/stub/scripts/qa.lua --key $key --log "$tmp/again.log"
train "$tmp/stopped"
say $? "an interrupted run goes on" "$(tail -n 3 "$tmp/stopped.err")"
stub_stop
out=$("$bin" lua tests/e2e/compare.lua "$tmp/reference" "$tmp/stopped")
say $? "an interrupted run ends with the same bytes" "$out"
