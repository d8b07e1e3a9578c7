#!/bin/sh
# react.sh BUILD - runs with child processes and workspaces: killed again and again they end
# as the undisturbed one, replay and shuffled replay agree, and nothing is left behind.
set -u
build=$1
bin=$build/skillopt
. tests/stub/stub.sh
form=${SKILLOPT_TEST_FORM:-short}
kills=6
[ "$form" = short ] || kills=40
[ "$form" = full ] && kills=150
if ! env -i PATH=/usr/local/bin:/usr/bin:/bin python3 -c '' 2>/dev/null; then
  echo "skip - runs with child processes: there is no python3"
  exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
cp -r tests/programs/react "$tmp/program"
mkdir "$tmp/scratch"
i=0
while [ $i -lt 15 ]; do
  i=$((i + 1))
  colour=$([ $((i % 3)) -eq 0 ] && echo red || echo blue)
  printf '{"id": "b%d", "question": "Which colour has box %d?", "answers": ["%s"], "files": {"box%d.txt": "colour: %s", "note.txt": "nothing"}}\n' \
    $i $i "$colour" $i "$colour" >>"$tmp/items.jsonl"
done
cat >"$tmp/program/experiment.lua" <<END
return {
  model = { backend = "openai_compatible", target = "tgt", optimizer = "opt" },
  train = { num_epochs = 1, batch_size = 5 }, optimizer = { learning_rate = 2 },
  gradient = { minibatch_size = 3 },
  env = { name = "react", split_mode = "ratio", split_ratio = "5:4:6", data_path = "$tmp/items.jsonl" },
}
END
replace_by_train() { # replace_by_train FOLDER IN_FLIGHT [KEY=VALUE...]
  folder=$1
  in_flight=$2
  shift 2
  TMPDIR=$tmp/scratch OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 OPENAI_COMPATIBLE_API_KEY=EMPTY \
    exec "$bin" run "$tmp/program/experiment.lua" --quiet env.out_root="$folder" \
    env.workers="$in_flight" "$@" 2>>"$tmp/err"
}
train() { (replace_by_train "$@"); }
# Numbers from a seed, so that a failure can be had again.
state=${SKILLOPT_TEST_SEED:-7}
draw() { # draw N: 0 to N-1
  state=$(( (state * 1103515245 + 12345) % 2147483648 ))
  echo $(( (state / 65536) % $1 ))
}
# Processes whose folder is one of ours.
running() {
  ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -F "$tmp/scratch"
}

stub_start "$build" --script tests/stub/scripts/react.lua
train "$tmp/unsafe" 1
is=$?
if [ $is -eq 2 ] && grep -q 'sandbox: none' "$tmp/err"; then
  echo "ok - without sandbox: none the run is refused with words"
else
  echo "FAIL - without sandbox: none the run is refused with words: exit $is $(tail -n 3 "$tmp/err")"
fi
train "$tmp/one" 1 sandbox=none
say $? "a run with processes ends" "$(tail -n 3 "$tmp/err")"
grep -q '"/workspace' "$tmp/one/test_eval/predictions"/*/conversation.json && \
  ! grep -rq 'skillopt-work' "$tmp/one" --include='*.json*'
say $? "no file names the place of a workspace" "$(grep -rl 'skillopt-work' "$tmp/one" | head -n 1)"
train "$tmp/many" 32 sandbox=none
say $? "the run ends with 32 items at once" "$(tail -n 3 "$tmp/err")"
out=$("$bin" lua tests/e2e/compare.lua "$tmp/one" "$tmp/many")
say $? "one and 32 items at once give the same bytes" "$out"

(replace_by_train "$tmp/interrupted" 8 sandbox=none) &
pid=$!
while [ -z "$(running)" ] && kill -0 $pid 2>/dev/null; do
  sleep 0.02
done
kill -INT $pid
wait $pid
is=$?
if [ $is -eq 130 ] && [ -z "$(running)" ]; then
  echo "ok - an interrupt ends the processes with the run"
else
  echo "FAIL - an interrupt ends the processes with the run: exit $is $(running)"
fi

killed=0
n=0
while [ $n -lt $kills ]; do
  n=$((n + 1))
  (replace_by_train "$tmp/killed" 8 sandbox=none) &
  pid=$!
  ms=$(draw 900)
  sleep "$(printf '0.%03d' $((ms + 90)))"
  kill -9 $pid 2>/dev/null && killed=$((killed + 1))
  wait $pid 2>/dev/null
done
tries=0
while [ -n "$(running)" ] && [ $tries -lt 100 ]; do
  tries=$((tries + 1))
  sleep 0.05
done
[ -z "$(running)" ]
say $? "the children of killed runs have ended" "$(running)"
train "$tmp/killed" 8 sandbox=none
say $? "the run ends after $killed kills" "$(tail -n 3 "$tmp/err")"
out=$("$bin" lua tests/e2e/compare.lua "$tmp/one" "$tmp/killed")
say $? "after kills the bytes are the same" "$out"
[ -z "$(ls "$tmp/scratch")" ]
say $? "no workspace is left behind" "$(ls "$tmp/scratch" | head -n 3)"
stub_stop

# From here on nothing is asked and nothing is run.
for folder in one killed; do
  out=$(TMPDIR=/nonexistent "$bin" replay "$tmp/$folder" --verify 2>&1)
  say $? "replay --verify of $folder says equal without running anything" "$out"
done
for seed in 1 2 3 4 5; do
  out=$(TMPDIR=/nonexistent "$bin" replay "$tmp/killed" --shuffle $seed 2>&1)
  say $? "answers delivered in the order of seed $seed give the same bytes" "$out"
done
