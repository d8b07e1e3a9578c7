#!/bin/sh
# faults.sh BUILD - every fault point, crashed and failed: the same command then ends with
# the bytes of the undisturbed run, and what it asks again was in flight.
set -u
. tests/e2e/faults/case.sh
. tests/stub/stub.sh
trap 'rm -rf "$tmp"' EXIT
in_flight=8

# One run in its own working directory, so that the default folder and its link are used.
run_sim() { # run_sim FOLDER
  mkdir -p "$1"
  (cd "$1" && "$bin" run "$home/configs/houserules/experiment.lua" --quiet env.limit=12 \
    env.split_dir="$home/data/houserules" train.batch_size=4 train.num_epochs=1 \
    gradient.minibatch_size=2)
}
run_http() { # run_http FOLDER: against the stub of this shard
  mkdir -p "$1"
  (cd "$1" && OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 OPENAI_COMPATIBLE_API_KEY=a-key-of-the-test \
    "$bin" run --config "$home/configs/searchqa/default.yaml" --quiet model.target=tgt \
    model.optimizer=opt train.train_size=0 train.num_epochs=1 train.batch_size=4 env.limit=12 \
    gradient.minibatch_size=2 model.calls_in_flight=$in_flight env.split_mode=ratio \
    env.data_path="$tmp/items.jsonl")
}
run_process() { # run_process FOLDER: items that start processes, against the stub
  mkdir -p "$1"
  (cd "$1" && OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 OPENAI_COMPATIBLE_API_KEY=a-key-of-the-test \
    "$bin" run "$home/tests/e2e/faults/shell/experiment.lua" --quiet \
    model.calls_in_flight=$in_flight env.data_path="$tmp/items.jsonl")
}
# The stub outlives the longest form on a slow machine; it also ends with this script.
stub() { # stub NAME: its requests go to $tmp/NAME.log
  stub_start "$build" --script tests/stub/scripts/qa.lua --key a-key-of-the-test --log "$tmp/$1.log" \
    --max-seconds 20000
}
i=0
while [ $i -lt 60 ]; do
  i=$((i + 1))
  printf '{"id": "q%d", "question": "Is thing %d good?", "answers": ["yes"], "context": "[DOC] Thing %d is %s."}\n' \
    $i $i $i "$([ $((i % 3)) -eq 0 ] && echo bad || echo good)" >>"$tmp/items.jsonl"
done

asked() { wc -l <"$tmp/$shard.log"; }

# What a failed point may end with: 4 the weather outlived its retries, 6 a file could not
# be written; 0 where the loss is made good or matters to nobody: an older head only
# notices less, `latest` (the first rename) is a convenience, a request is sent again.
check_code() { # check_code CASE CODE ERRORS
  case $1 in
  *:crash | *:tear) [ "$2" -eq 137 ] ;;
  head:* | link:* | rename:1:* | send:* | receive:* | append:* | db_*) [ "$2" -eq 0 ] || { [ "$2" -eq 6 ] && [ -s "$3" ]; } ;;
  *) { [ "$2" -eq 6 ] || [ "$2" -eq 4 ]; } && [ -s "$3" ] ;;
  esac
}
# How often the journal's points are passed depends on the clock: a case that was not met is
# moved towards the start. Sets `fault` and `code`.
meet() { # meet KIND CASE
  fault=$2
  while :; do
    SKILLOPT_FAULT=$fault "run_$1" "$folder" >/dev/null 2>"$folder.err"
    code=$?
    pass=${fault#*:}
    pass=${pass%:*}
    case $fault in *:crash | *:tear | commit:* | insert:*) ;; *) return ;; esac
    [ $code -eq 0 ] && [ "$pass" -gt 1 ] || return
    fault=${fault%%:*}:$((pass * 9 / 10)):${fault##*:}
    rm -r "$folder"
    asked_before=$(asked)
  done
}
try() { # try KIND CASE NUMBER
  folder=$tmp/$1.$3
  asked_before=$(asked)
  meet "$1" "$2"
  check_code "$fault" $code "$folder.err"
  say $? "$1 $fault ends as it should" "exit code $code: $(tail -n 3 "$folder.err")"
  "run_$1" "$folder" >/dev/null 2>"$folder.err"
  say $? "after $1 $fault the same command ends the run" "$(tail -n 3 "$folder.err")"
  case $form:$fault in
  short:[wrsfl]*) ;; # the short form replays where the journal was hit
  *)
    case $1 in sim) name=houserules ;; http) name=searchqa ;; *) name=shell ;; esac
    out=$(cd "$folder" && "$bin" replay outputs/$name/0001 --verify 2>&1)
    say $? "after $1 $fault the run replays" "$out"
    ;;
  esac
  [ "$1" = sim ] && return
  again=$(($(asked) - asked_before - $(cat "$tmp/$1.asked")))
  [ $again -le $in_flight ]
  say $? "after $1 $fault no more is asked again than was in flight" "$again calls, $in_flight places"
}
shard() { # shard NUMBER: every second case
  shard=$1
  stub "$shard"
  n=0
  while read -r kind fault; do
    n=$((n + 1))
    [ $((n % 2)) -eq "$shard" ] && try "$kind" "$fault" $n
  done <"$tmp/cases"
  stub_stop
}

build=$1
SKILLOPT_FAULT=count:$tmp/sim.counts run_sim "$tmp/sim" 2>"$tmp/err"
say $? "an undisturbed run with the simulated model ends" "$(tail -n 3 "$tmp/err")"
for kind in http process; do
  shard=$kind
  stub $kind
  SKILLOPT_FAULT=count:$tmp/$kind.counts run_$kind "$tmp/$kind" 2>"$tmp/err"
  say $? "an undisturbed run over HTTP ends ($kind)" "$(tail -n 3 "$tmp/err")"
  asked >"$tmp/$kind.asked"
  stub_stop
done
stub spawn
SKILLOPT_FAULT=spawn:4:fail run_process "$tmp/unspawned" 2>"$tmp/err"
say $? "a child that cannot be started does not end the run" "$(tail -n 3 "$tmp/err")"
stub_stop
rows=$(grep -rh '"state": "failed"' "$tmp/unspawned" --include=results.jsonl)
case $rows in
'') echo "FAIL - its item failed: no row is failed" ;;
*'"hard"'*) echo "FAIL - its item has no mark: $rows" ;;
*) echo "ok - its item failed and has no mark" ;;
esac
: >"$tmp/cases"
for kind in sim http process; do
  lua5.4 tests/e2e/faults/cases.lua "$tmp/$kind.counts" "$form" $kind "${SKILLOPT_TEST_SEED:-7}" \
    >"$tmp/list" 2>"$tmp/err"
  say $? "every point is passed in a run ($kind)" "$(cat "$tmp/err")"
  sed "s/^/$kind /" "$tmp/list" >>"$tmp/cases"
done
(shard 0 >"$tmp/out.0" 2>&1) &
first=$!
shard 1 >"$tmp/out.1" 2>&1
wait $first
cat "$tmp/out.0" "$tmp/out.1"
same "after any fault the bytes are the same (sim)" "$tmp/sim/outputs/houserules/0001" \
  "$tmp"/sim.*/outputs/houserules/0001
same "after any fault the bytes are the same (http)" "$tmp/http/outputs/searchqa/0001" \
  "$tmp"/http.*/outputs/searchqa/0001
same "after any fault the bytes are the same (process)" "$tmp/process/outputs/shell/0001" \
  "$tmp"/process.*/outputs/shell/0001
