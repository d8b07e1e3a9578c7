#!/bin/sh
# kill.sh BUILD - a run that is killed again and again ends as the undisturbed one, at one
# and at 64 calls in flight; replay and shuffled replay agree.
set -u
bin=$1/skillopt
form=${SKILLOPT_TEST_FORM:-short}
kills=10
[ "$form" = short ] || kills=40
[ "$form" = full ] && kills=200
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
say() { # say CODE NAME DETAIL
  if [ "$1" -eq 0 ]; then echo "ok - $2"; else echo "FAIL - $2: $3"; fi
}
replace_by_train() { # replace_by_train FOLDER IN_FLIGHT
  exec "$bin" run configs/houserules/experiment.lua --quiet env.out_root="$1" env.limit=24 \
    model.calls_in_flight="$2" env.workers="$2" model.sim_latency_seconds=0.01 \
    train.batch_size=12 train.num_epochs=1 2>>"$tmp/err"
}
train() { (replace_by_train "$@"); }
# Numbers from a seed, so that a failure can be had again.
state=${SKILLOPT_TEST_SEED:-7}
draw() { # draw N: 0 to N-1
  state=$(( (state * 1103515245 + 12345) % 2147483648 ))
  echo $(( (state / 65536) % $1 ))
}
train "$tmp/one" 1
say $? "the run ends at one call in flight" "$(tail -n 3 "$tmp/err")"
train "$tmp/many" 64
say $? "the run ends at 64 calls in flight" "$(tail -n 3 "$tmp/err")"
out=$("$bin" lua tests/e2e/compare.lua "$tmp/one" "$tmp/many")
say $? "one and 64 calls in flight give the same bytes" "$out"
for in_flight in 1 64; do
  killed=0
  n=0
  while [ $n -lt $kills ]; do
    n=$((n + 1))
    (replace_by_train "$tmp/killed_$in_flight" $in_flight) &
    pid=$!
    ms=$(draw 400)
    sleep "$(printf '0.%03d' $((ms + 20)))"
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
  done
  train "$tmp/killed_$in_flight" $in_flight
  say $? "the run ends after $killed kills at $in_flight in flight" "$(tail -n 3 "$tmp/err")"
  out=$("$bin" lua tests/e2e/compare.lua "$tmp/one" "$tmp/killed_$in_flight")
  say $? "after kills at $in_flight in flight the bytes are the same" "$out"
done
out=$("$bin" replay "$tmp/many" --verify 2>&1)
say $? "replay --verify says equal" "$out"
for seed in 1 2 3 4 5; do
  out=$("$bin" replay "$tmp/many" --shuffle $seed 2>&1)
  say $? "replies delivered in the order of seed $seed give the same bytes" "$out"
done

# Over the ends of epochs: guidance, memory, notes, a rate from the model, rewriting.
replace_by_epochs() { # replace_by_epochs FOLDER
  exec "$bin" run configs/houserules/experiment.lua --quiet env.out_root="$1" env.limit=12 \
    model.sim_latency_seconds=0.01 train.batch_size=6 train.num_epochs=3 \
    optimizer.slow_update_samples=6 policy.slow_update=longitudinal policy.meta_skill=epoch \
    policy.appendix=skill_aware policy.rate=autonomous policy.update=rewrite \
    evaluation.remeasure=true 2>>"$tmp/err"
}
(replace_by_epochs "$tmp/epochs")
say $? "a run with slow update and meta skill ends" "$(tail -n 3 "$tmp/err")"
n=0
while [ $n -lt $((kills * 4 / 5)) ]; do
  n=$((n + 1))
  (replace_by_epochs "$tmp/epochs_killed") &
  pid=$!
  sleep "$(printf '0.%03d' $(($(draw 300) + 20)))"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
done
(replace_by_epochs "$tmp/epochs_killed")
say $? "it ends after $n kills" "$(tail -n 3 "$tmp/err")"
out=$("$bin" lua tests/e2e/compare.lua "$tmp/epochs" "$tmp/epochs_killed")
say $? "after kills over the ends of epochs the bytes are the same" "$out"
out=$("$bin" replay "$tmp/epochs_killed" --verify 2>&1)
say $? "a replay over the ends of epochs says equal" "$out"
