#!/bin/sh
# eval.sh BUILD - evaluations against the scripted provider: what is asked, what is paid, what
# is left when it is killed or when calls fail.
set -u
build=$1
bin=$build/skillopt
form=${SKILLOPT_TEST_FORM:-short}
kills=3
[ "$form" = short ] || kills=20
here=$(pwd)
. tests/stub/stub.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
same() { # same A B NAME
  out=$("$bin" lua tests/e2e/compare.lua "$1" "$2")
  say $? "$3" "$out"
}
ask() { # ask NAME COMMAND ARGS...: against the last stub; output in $tmp/NAME.out and .err
  name=$1
  shift
  OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 timeout 120 "$bin" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err"
}
data="env.split_mode=ratio env.data_path=$tmp/items.jsonl model.target=tgt model.optimizer=opt"
i=0
while [ $i -lt 60 ]; do
  i=$((i + 1))
  printf '{"id": "q%d", "question": "Is thing%d good?", "answers": ["yes"], "context": "[DOC] Thing %d is %s."}\n' \
    $i $i $i "$([ $((i % 3)) -eq 0 ] && echo bad || echo good)" >>"$tmp/items.jsonl"
done

# The best skill costs what the initial one costs, and the file is all there is to it.
stub_start "$build" --script tests/stub/scripts/qa.lua
ask trained run --config configs/searchqa/default.yaml $data env.out_root="$tmp/run" train.train_size=0 \
  train.num_epochs=1 train.batch_size=8 --quiet
say $? "a skill is trained" "$(cat "$tmp/trained.err")"
stub_stop
mkdir "$tmp/elsewhere"
cp "$tmp/run/best_skill.md" "$tmp/elsewhere/mine.md"
for skill in initial "$tmp/run/best_skill.md" "$tmp/elsewhere/mine.md"; do
  name=$(basename "$skill" .md)
  stub_start "$build" --script tests/stub/scripts/qa.lua --log "$tmp/$name.log"
  (cd "$tmp/elsewhere" && bin=$here/$bin && ask "$name" eval --config "$here/configs/searchqa/default.yaml" \
    $data --skill "$skill" --split valid_unseen --out_root "$tmp/eval_$name" --json)
  say $? "the skill $name is evaluated" "$(cat "$tmp/$name.err")"
  stub_stop
  sed 's/.*"digest": "\([0-9a-f]*\)".*/\1/' "$tmp/$name.log" | sort >"$tmp/$name.bodies"
done
is "$(wc -l <"$tmp/best_skill.log")" "$(wc -l <"$tmp/initial.log")" "best and initial skill cost the same number of calls"
is "$(wc -l <"$tmp/best_skill.log")" 42 "one call an item"
is "$(cat "$tmp"/*.log | grep -c '"model": "opt"')" 0 "no call goes to the optimizer"
cmp -s "$tmp/best_skill.bodies" "$tmp/mine.bodies"
say $? "the file alone, copied elsewhere, gives the same prompts" "$(diff "$tmp/best_skill.bodies" "$tmp/mine.bodies" | head -n 3)"
cmp -s "$tmp/best_skill.bodies" "$tmp/initial.bodies" && same_prompts=0 || same_prompts=1
is $same_prompts 1 "another skill gives other prompts"

# A run's folder: its configuration, and the address from the environment of now.
stub_start "$build" --script tests/stub/scripts/qa.lua
ask folder eval "$tmp/run" --split test --out_root "$tmp/eval_folder" --quiet
say $? "a run's folder is evaluated at the address of now" "$(cat "$tmp/folder.err")"
stub_stop
cmp -s "$tmp/eval_folder/results.jsonl" "$tmp/eval_best_skill/results.jsonl"
say $? "it gives what the configuration gives" "$(diff "$tmp/eval_folder/results.jsonl" "$tmp/eval_best_skill/results.jsonl" | head -n 2)"

# Killed again and again; one and 64 calls in flight.
sweep() { # sweep FOLDER IN_FLIGHT
  OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 exec "$bin" eval configs/searchqa/default.yaml $data --quiet \
    --skill "$tmp/run" --skill none --out_root "$1" model.calls_in_flight="$2" env.workers="$2" \
    2>>"$tmp/sweep.err"
}
stub_start "$build" --script tests/stub/scripts/qa.lua --latency-ms 5
(sweep "$tmp/one" 1)
say $? "an evaluation ends at one call in flight" "$(tail -n 3 "$tmp/sweep.err")"
(sweep "$tmp/many" 64)
say $? "an evaluation ends at 64 calls in flight" "$(tail -n 3 "$tmp/sweep.err")"
same "$tmp/one" "$tmp/many" "both give the same bytes"
n=0
while [ $n -lt $kills ]; do
  n=$((n + 1))
  (sweep "$tmp/killed" 4) &
  pid=$!
  sleep "0.$((n * 7 % 4 + 1))"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
done
(sweep "$tmp/killed" 4)
say $? "it ends after $n kills" "$(tail -n 3 "$tmp/sweep.err")"
stub_stop
same "$tmp/one" "$tmp/killed" "after kills the bytes are the same"
out=$("$bin" replay "$tmp/killed" --verify 2>&1)
say $? "its replay says equal" "$out"
out=$("$bin" replay "$tmp/many" --shuffle 5 2>&1)
say $? "replies in another order give the same bytes" "$out"

# Calls that fail are no marks.
stub_start "$build" --script tests/stub/scripts/qa.lua --fail-always 0.5 --fault 500
ask half eval configs/searchqa/default.yaml $data --skill none --split test --out_root "$tmp/half" model.retries=0
is $? 7 "too many failed items end with exit code 7: too little was measured"
has "$tmp/half.err" "of 42 items failed" "and with how many"
is "$(ls "$tmp/half/eval_summary.json" 2>/dev/null)" "" "and there is no figure"
stub_stop
stub_start "$build" --script tests/stub/scripts/qa.lua
ask whole eval configs/searchqa/default.yaml $data --skill none --split test --out_root "$tmp/whole" --quiet
ask half eval configs/searchqa/default.yaml $data --skill none --split test --out_root "$tmp/half" --quiet
say $? "the same command goes on when the server is well" "$(cat "$tmp/half.err")"
stub_stop
same "$tmp/whole" "$tmp/half" "and ends as if nothing had been"
stub_start "$build" --script tests/stub/scripts/qa.lua --key the-right-one-of-sixteen
ask login eval configs/searchqa/default.yaml $data --skill none --split test --out_root "$tmp/login"
is $? 4 "a wrong login ends with exit code 4"
has "$tmp/login.err" "auth" "and is named"
stub_stop

# Two items, and each skill fails on another one: nothing can be said. (The first call of all
# must not fail: it would end the run.)
mkdir "$tmp/two"
for split in train val test; do
  head -n 2 "$tmp/items.jsonl" | sed "s/\"q/\"$split/" >"$tmp/two/$split.jsonl"
done
printf 'fails: thing2\n' >"$tmp/a.md"
printf 'fails: thing1\n' >"$tmp/b.md"
pair() { # pair NAME [ARGS...]
  name=$1
  shift
  (cd "$tmp" && bin=$here/$bin && ask "$name" eval "$here/configs/searchqa/default.yaml" --skill a.md \
    --skill b.md --split test env.split_mode=split_dir env.split_dir=two model.target=tgt \
    model.retries=0 "$@")
}
stub_start "$build" --script tests/stub/scripts/picky.lua
pair apart
is $? 7 "a comparison without common items ends with exit code 7"
has "$tmp/apart.err" "too little was measured to decide" "and says why"
if grep '"failed"' "$tmp/outputs/searchqa-eval/0001/results.jsonl" | grep -q '"hard"'; then
  echo "FAIL - a failed row has no mark: $(cat "$tmp/outputs/searchqa-eval/0001/results.jsonl")"
else
  echo "ok - a failed row has no mark"
fi
pair sealed
is $? 7 "shown again it is the same"
stub_stop
stub_start "$build" --script tests/stub/scripts/qa.lua --log "$tmp/again.log"
pair again --retry-failed
say $? "--retry-failed decides it" "$(cat "$tmp/again.err")"
is "$(grep -c . "$tmp/again.log")" 2 "and pays for what had failed"
has "$tmp/again.out" "fork of 0001" "as a fork"
stub_stop
