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
. tests/say.sh
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

# Over the ends of epochs: guidance by force and through the gate, a memory, notes, a rate
# from the model, rewriting. Runs are killed after every few commits, from begin to end; in
# the longer forms until each place has been hit, by its name (tests/lua/epoch_kill_test.lua
# hits each of them in the short form, one call at a time).
epochs() { # epochs KIND FOLDER
  epochs_kind=$1
  epochs_folder=$2
  if [ "$epochs_kind" = forced ]; then
    set -- train.num_epochs=2 optimizer.skill_update_mode=rewrite optimizer.lr_control_mode=autonomous \
      optimizer.use_skill_aware_reflection=true
  else
    set -- train.num_epochs=3 optimizer.lr_scheduler=constant evaluation.use_gate=false \
      optimizer.slow_update_gate_with_selection=true
  fi
  "$bin" run configs/houserules/experiment.lua --quiet env.out_root="$epochs_folder" env.limit=12 \
    train.batch_size=6 optimizer.slow_update_samples=6 optimizer.use_slow_update=true \
    optimizer.use_meta_skill=true optimizer.learning_rate=1 optimizer.min_learning_rate=1 "$@" \
    2>>"$tmp/err"
}
kill_epochs() { # kill_epochs KIND FOLDER: from begin to end; adds to `hits` and `n`
  while :; do
    SKILLOPT_FAULT=commit:$(($(draw "$most") + 2)):crash epochs "$1" "$2" 2>/dev/null
    code=$?
    [ $code -eq 137 ] || return $code
    n=$((n + 1))
    hits="$hits $("$bin" lua tests/e2e/last_slot.lua "$2" 2>>"$tmp/err")"
  done
}
most=7
[ "$form" = short ] && most=14
hit() { # hit KIND PLACE WORDS: was a run killed there?
  count=$(echo "$hits" | tr ' ' '\n' | grep -cE "^$2")
  [ "$count" -gt 0 ] || [ "$form" = short ]
  say $? "$1: killed in $3, $count times" "killed in: $hits"
}
for kind in forced gated; do
  epochs $kind "$tmp/$kind"
  say $? "$kind: a run over the ends of epochs ends" "$(tail -n 3 "$tmp/err")"
  hits= n=0 runs=0
  if [ $kind = forced ]; then
    wanted='slow_update/epoch_02 final_selection_eval test_eval'
  else
    wanted='slow_update/epoch_02/rollout slow_update/epoch_02/selection_eval meta_skill/epoch_02'
  fi
  least=1
  most_runs=1
  [ "$form" = short ] || most_runs=60
  [ "$form" = full ] && least=5
  while [ $runs -lt $most_runs ]; do
    runs=$((runs + 1))
    kill_epochs $kind "$tmp/$kind.killed.$runs"
    say $? "$kind: run $runs ends, $n kills so far" "$(tail -n 3 "$tmp/err")"
    out=$("$bin" lua tests/e2e/compare.lua "$tmp/$kind" "$tmp/$kind.killed.$runs")
    say $? "$kind: run $runs has the bytes of the undisturbed one" "$out"
    missing=
    for place in $wanted; do echo "$hits" | grep -q " $place" || missing=$place; done
    [ -n "$missing" ] || [ $runs -lt $least ] || break
  done
  out=$("$bin" replay "$tmp/$kind.killed.1" --verify 2>&1)
  say $? "$kind: a replay over the ends of epochs says equal" "$out"
  if [ $kind = forced ]; then
    hit forced slow_update/epoch_02 "the slow update"
    hit forced final_selection_eval "the last validation"
    hit forced test_eval "the final test"
  else
    hit gated slow_update/epoch_02/rollout "the slow update's rollouts"
    hit gated slow_update/epoch_02/selection_eval "the gate of the slow update"
    hit gated meta_skill/epoch_02 "the meta skill"
  fi
done
