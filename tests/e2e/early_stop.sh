#!/bin/sh
# early_stop.sh BUILD - runs whose hopeless candidates are stopped early: the same bytes at
# one and at 64 calls in flight, killed or not, replayed in any order; the same skill as
# without early stop.
set -u
bin=$1/skillopt
form=${SKILLOPT_TEST_FORM:-short}
kills=6
[ "$form" = short ] || kills=40
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
replace_by_train() { # replace_by_train FOLDER IN_FLIGHT EARLY
  exec "$bin" run configs/houserules/experiment.lua --quiet env.out_root="$1" env.limit=24 \
    model.calls_in_flight="$2" env.workers="$2" model.sim_latency_seconds=0.01 model.sim_noise=0.2 \
    train.batch_size=6 train.num_epochs=1 evaluation.early_stop="$3" 2>>"$tmp/err"
}
train() { (replace_by_train "$@"); }
train "$tmp/whole" 64 false
say $? "the run without early stop ends" "$(tail -n 3 "$tmp/err")"
train "$tmp/one" 1 true
say $? "the run with early stop ends at one call in flight" "$(tail -n 3 "$tmp/err")"
train "$tmp/many" 64 true
say $? "the run with early stop ends at 64 calls in flight" "$(tail -n 3 "$tmp/err")"
grep -q '"selection_not_run"' "$tmp/one/history.json"
say $? "a candidate was stopped early and its record says so" "$(grep gate_reason "$tmp/one/history.json")"
grep -q '"state": "not_run"' -r "$tmp/one" --include=results.jsonl
[ $? -ne 0 ]
say $? "what was not run has no row" "there is a row"
out=$("$bin" lua tests/e2e/compare.lua "$tmp/one" "$tmp/many")
say $? "one and 64 calls in flight give the same bytes" "$out"
out=$(cmp "$tmp/whole/best_skill.md" "$tmp/one/best_skill.md" 2>&1)
say $? "early stop ends with the same skill" "$out"
grep -h '"action"' "$tmp/whole/history.json" >"$tmp/whole.actions"
out=$(grep -h '"action"' "$tmp/one/history.json" | diff "$tmp/whole.actions" -)
say $? "early stop decides the same in every step" "$out"
for in_flight in 1 64; do
  n=0
  while [ $n -lt $kills ]; do
    n=$((n + 1))
    (replace_by_train "$tmp/killed_$in_flight" $in_flight true) &
    pid=$!
    sleep "0.$((n * 37 % 60 + 10))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
  done
  train "$tmp/killed_$in_flight" $in_flight true
  say $? "the run ends after kills at $in_flight in flight" "$(tail -n 3 "$tmp/err")"
  out=$("$bin" lua tests/e2e/compare.lua "$tmp/one" "$tmp/killed_$in_flight")
  say $? "after kills at $in_flight in flight the bytes are the same" "$out"
done
out=$("$bin" replay "$tmp/many" --verify 2>&1)
say $? "replay --verify says equal" "$out"
for seed in 1 2 3; do
  out=$("$bin" replay "$tmp/many" --shuffle $seed 2>&1)
  say $? "replies delivered in the order of seed $seed give the same bytes" "$out"
done
