#!/bin/sh
# kills.sh BUILD - runs that are killed again and again, by the count of their commits: each
# start is let make one at least, so that every run comes to its end. All end with the
# bytes of the undisturbed run, with a provider that fails, too.
set -u
. tests/e2e/faults/case.sh
. tests/stub/stub.sh
trap 'rm -rf "$tmp"' EXIT
build=$1
seeds=$(pick 3 20 20)

i=0
while [ $i -lt 24 ]; do
  i=$((i + 1))
  printf '{"id": "b%d", "question": "Which colour has box %d?", "answers": ["%s"], "files": {"box%d.txt": "colour: %s", "note.txt": "nothing"}}\n' \
    $i $i "$([ $((i % 2)) -eq 0 ] && echo red || echo blue)" $i \
    "$([ $((i % 2)) -eq 0 ] && echo red || echo blue)" >>"$tmp/boxes.jsonl"
  printf '{"id": "q%d", "question": "Is thing %d good?", "answers": ["yes"], "context": "[DOC] Thing %d is %s."}\n' \
    $i $i $i "$([ $((i % 3)) -eq 0 ] && echo bad || echo good)" >>"$tmp/items.jsonl"
done
over_http() { # over_http FOLDER IN_FLIGHT ARGUMENT...
  http_folder=$1
  http_places=$2
  shift 2
  SKILLOPT_PATH=tests/programs/react OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 \
    OPENAI_COMPATIBLE_API_KEY=a-key-of-the-test "$bin" run "$@" --quiet \
    env.out_root="$http_folder" model.calls_in_flight="$http_places" env.workers="$http_places"
}
run_example() { train "$1" model.calls_in_flight="$2" env.workers="$2"; }
run_react() { over_http "$1" "$2" tests/e2e/faults/react/experiment.lua env.data_path="$tmp/boxes.jsonl"; }
run_weather() {
  over_http "$1" "$2" --config configs/searchqa/default.yaml model.target=tgt model.optimizer=opt \
    train.train_size=0 train.num_epochs=1 train.batch_size=6 gradient.minibatch_size=3 \
    env.split_mode=ratio env.data_path="$tmp/items.jsonl" model.retries="$retries"
}

# One start that is killed after 1 to 5 commits (at one call in flight, where there are many
# more of them, 1 to 40); 0: it came to its end.
start() { # start KIND FOLDER IN_FLIGHT
  draw "$([ "$3" -eq 1 ] && echo 40 || echo 5)"
  n=$((drawn + 2))
  draw 2
  point=commit
  [ "$drawn" -eq 1 ] && point=head
  SKILLOPT_FAULT=$point:$n:crash "run_$1" "$2" "$3" >/dev/null 2>"$tmp/err"
}
# A run from its beginning to its end. Adds to `killed`; false when it ended otherwise.
whole() { # whole KIND FOLDER IN_FLIGHT
  while :; do
    start "$@"
    code=$?
    [ $code -eq 0 ] && return 0
    [ $code -eq 137 ] || return 1
    killed=$((killed + 1))
  done
}
kills() { # kills KIND IN_FLIGHT COUNT: as many runs as it takes
  killed=0
  runs=0
  while [ $killed -lt "$3" ]; do
    runs=$((runs + 1))
    whole "$1" "$tmp/$1.$2.$runs" "$2"
    code=$?
    [ $code -eq 0 ] || break
  done
  say $code "$1: each run ends, $killed kills in $runs runs at $2 in flight" "$(tail -n 3 "$tmp/err")"
  same "$1: $killed kills at $2 in flight leave the same bytes" "$tmp/$1" "$tmp/$1.$2".*
}
run_example "$tmp/example" 8 2>"$tmp/err"
say $? "the shipped example ends undisturbed" "$(tail -n 3 "$tmp/err")"
kills example 64 "$(pick 8 50 500)"
kills example 1 "$(pick 4 10 100)"

stub_start "$build" --script tests/e2e/faults/react_stub.lua --log "$tmp/requests" --max-seconds 20000
run_react "$tmp/react" 8 2>"$tmp/err"
say $? "the tool environment ends undisturbed" "$(tail -n 3 "$tmp/err")"
one_run=$(wc -l <"$tmp/requests")
for in_flight in 64 1; do
  before=$(wc -l <"$tmp/requests")
  count=$(pick 5 50 500)
  [ $in_flight -eq 1 ] && count=$(pick 3 10 100)
  kills react $in_flight "$count"
  again=$(($(wc -l <"$tmp/requests") - before - runs * one_run))
  [ $again -le $((killed * in_flight)) ]
  say $? "react: no more is asked again than was in flight at the kills" "$again calls, $killed kills"
done
stub_stop

# A provider that fails: one request in twenty, whenever it is sent; or a share of the
# requests always, whose items are then failed. With the first a call has to be tried often
# enough that none fails each time, over all the runs: that would end its run, as it should.
weather() { # weather KIND STUB-OPTION...: the undisturbed run
  kind=$1
  shift
  stub_start "$build" --script tests/stub/scripts/qa.lua --retry-after 0 --max-seconds 20000 "$@"
  run_weather "$tmp/$kind" 8 2>"$tmp/err"
}
kill_in_weather() { # kill_in_weather KIND: as many runs as the form asks, all from the start
  killed=0
  runs=0
  code=0
  while [ $code -eq 0 ] && [ $runs -lt "$(pick 1 5 30)" ]; do
    runs=$((runs + 1))
    whole weather "$tmp/$1.killed.$runs" 64
    code=$?
  done
  say $code "$1: each run ends, $killed kills in $runs runs" "$(tail -n 3 "$tmp/err")"
  same "$1: $killed kills leave the same bytes" "$tmp/$1" "$tmp/$1.killed".*
  stub_stop
}
retries=5
weather passing --fail-share 0.05 --fault rate_limit,500,cut,invalid_json
say $? "passing: an undisturbed run ends" "$(tail -n 3 "$tmp/err")"
kill_in_weather passing

# Which requests fail follows from their bodies: take the first share that meets an item.
retries=1
for share in 0.01 0.02 0.03 0.04 0.06 0.08 0.12 none; do
  rm -rf "$tmp/lasting"
  weather lasting --fail-always $share --fault 500 && \
    grep -rq '"state": "failed"' "$tmp/lasting" --include=results.jsonl && break
  stub_stop
done 2>/dev/null
[ $share != none ]
say $? "lasting: a run in which items failed ends" "no share of failing requests gave one"
[ $share = none ] || kill_in_weather lasting

seed=0
while [ $seed -lt "$seeds" ]; do
  seed=$((seed + 1))
  code=0
  for run in example react lasting; do
    out=$(SKILLOPT_PATH=tests/programs/react "$bin" replay "$tmp/$run" --shuffle $seed 2>&1) || { code=1; break; }
  done
  say $code "replies delivered in the order of seed $seed give the same bytes" "$out"
done
