#!/bin/sh
# alfworld.sh BUILD - games are played, trained on, killed and replayed; 500 at once; their
# archives come from a server; a person plays.
set -u
. tests/stub/stub.sh
bin=$1/skillopt
form=${SKILLOPT_TEST_FORM:-short}
kills=8
[ "$form" = short ] || kills=40
[ "$form" = full ] && kills=200
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
has() { # has TEXT PIECE NAME
  case $1 in *"$2"*) echo "ok - $3" ;; *) echo "FAIL - $3: '$2' is not in: $1" ;; esac
}
make_files() { "$bin" lua tests/e2e/alfworld/make.lua "$1" "$tmp"; }
out=$(make_files games 2>&1)
say $? "the games of the test are made" "$out"

# ---- one and 64 calls in flight, kills, replays

replace_by_train() { # replace_by_train FOLDER IN_FLIGHT
  exec "$bin" run configs/alfworld/sim.yaml --quiet env.out_root="$1" env.data_root="$tmp/games" \
    env.split_dir="$tmp/split" model.calls_in_flight="$2" env.workers="$2" train.batch_size=5 \
    train.num_epochs=1 env.max_steps=15 model.sim_latency_seconds=0.002 2>>"$tmp/err"
}
train() { (replace_by_train "$@"); }
# Numbers from a seed, so that a failure can be had again.
state=${SKILLOPT_TEST_SEED:-7}
draw() { # draw N: sets `drawn` to 0 .. N-1
  state=$(( (state * 1103515245 + 12345) % 2147483648 ))
  drawn=$(( (state / 65536) % $1 ))
}
train "$tmp/one" 1
say $? "a run on games ends at one call in flight" "$(tail -n 3 "$tmp/err")"
train "$tmp/many_calls" 64
say $? "a run on games ends at 64 calls in flight" "$(tail -n 3 "$tmp/err")"
out=$("$bin" lua tests/e2e/compare.lua "$tmp/one" "$tmp/many_calls")
say $? "one and 64 calls in flight give the same bytes of a run on games" "$out"
for in_flight in 1 64; do
  killed=0
  n=0
  while [ $n -lt $kills ]; do
    n=$((n + 1))
    (replace_by_train "$tmp/killed_$in_flight" $in_flight) &
    pid=$!
    draw 400
    sleep "$(printf '0.%03d' $((drawn + 20)))"
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
  done
  train "$tmp/killed_$in_flight" $in_flight
  say $? "a run on games ends after $killed kills at $in_flight in flight" "$(tail -n 3 "$tmp/err")"
  out=$("$bin" lua tests/e2e/compare.lua "$tmp/one" "$tmp/killed_$in_flight")
  say $? "after kills at $in_flight in flight the bytes of a run on games are the same" "$out"
done
out=$("$bin" replay "$tmp/many_calls" --verify 2>&1)
say $? "replay --verify says equal for a run on games" "$out"
for seed in 1 2 3 4 5; do
  out=$("$bin" replay "$tmp/many_calls" --shuffle $seed 2>&1)
  say $? "replies to games in the order of seed $seed give the same bytes" "$out"
done
entry=$(head -c 400 "$tmp"/one/test_eval/predictions/test%3A0001/conversation.json | tr -d '\n ')
has "$entry" '[{"action":"' "conversation.json has a step with its action first"
mv "$tmp/games" "$tmp/moved"
out=$("$bin" replay "$tmp/many_calls" --verify 2>&1)
[ $? -ne 0 ]
say $? "a replay without the games does not say equal" "$out"
mv "$tmp/moved" "$tmp/games"

# ---- 500 at once

make_files many
make_files archives
if ! ALFWORLD_ARCHIVES=$tmp/archives stub_start "$1" --script tests/e2e/alfworld/stub.lua; then
  echo "FAIL - the stub starts"
  exit 1
fi
out=$(OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 OPENAI_COMPATIBLE_API_KEY=a-key-of-the-test \
  "$bin" run configs/alfworld/default.yaml --quiet --yes model.target=t model.optimizer=o \
  env.split_dir="$tmp/many" env.data_root="$tmp/games" env.out_root="$tmp/crowd" env.workers=500 \
  model.calls_in_flight=500 train.batch_size=500 train.num_epochs=1 env.max_steps=12 \
  evaluation.eval_test=false gradient.minibatch_size=500 2>&1)
rows=$(wc -l <"$tmp/crowd/steps/step_0001/rollout/results.jsonl")
[ "$rows" -eq 500 ]
say $? "500 games are played in one rollout" "$rows rows; $out"
# How far the limiter's window grows depends on the machine; that all may be in flight at
# once is tested in tests/lua/alfworld_rollout_test.lua.
most=$("$bin" lua tests/e2e/alfworld/stats.lua "$stub_url")
[ "$most" -ge 200 ]
say $? "hundreds of their calls are in flight at once" "$most"

# ---- the archives

fetch() { "$bin" data fetch alfworld "$@" 2>&1; }
out=$(fetch --from "$stub_url/moved" --root "$tmp/root")
has "$out" "is not the archive that was released" "an archive with another digest is refused"
[ ! -e "$tmp/root" ]
say $? "and nothing of it is unpacked" "$(ls "$tmp/root" 2>/dev/null)"
out=$(fetch --from "$stub_url/moved" --root "$tmp/root" --unchecked)
has "$out" "train: 1 of 3553
valid_seen: 1 of 140
valid_unseen: 1 of 134" "archives are fetched over a redirection, unpacked and counted"
has "$out" "are not complete in $tmp/root" "a count that is too small is an error"
out=$(fetch "$tmp/manifest" --from "$stub_url/files" --root "$tmp/root" --unchecked)
has "$out" "val item 1: json_2.1.1/valid_seen/gone/trial_1/game.tw-pddl is missing" \
  "games that a manifest misses are named"
out=$(fetch --from "$stub_url/round" --root "$tmp/root" --unchecked)
has "$out" "more than 5 redirections" "a redirection that leads nowhere ends"
out=$(fetch --from "$stub_url/nowhere" --root "$tmp/root" --unchecked)
has "$out" "answered with status 404" "an archive that is not there is an error"
out=$("$bin" data split alfworld "$tmp/made" --root "$tmp/root" --train 1 2>&1)
has "$out" "1 train, 1 val, 1 test items" "a split is made of what is there"
out=$("$bin" data verify alfworld "$tmp/made" --root "$tmp/root" --solve 2>&1)
has "$out" "3 files are fine, each can be solved" "the games of a split are opened and solved"
stub_stop

# ---- the shipped configurations

for file in default.yaml sim.yaml experiment.lua; do
  out=$("$bin" config configs/alfworld/$file env.memory 2>&1)
  say $? "configs/alfworld/$file is a configuration" "$out"
done

# ---- a person

out=$(printf 'take key 1 from shelf 1\n?\nquit' | "$bin" play tests/cases/game_attic.tw-pddl 2>&1)
has "$out" "You take key 1." "a person plays a game"
has "$("$bin" help)" "play       play a text game yourself" "the commands of environments are listed"
has "$("$bin" plai 2>&1)" 'did you mean `skillopt play`?' "a mistyped one is recognised"
out=$(ALFWORLD_DATA=$tmp/nothing "$bin" run configs/alfworld/sim.yaml --quiet \
  env.split_dir="$tmp/split" env.out_root="$tmp/refused" 2>&1)
[ $? -eq 3 ]
say $? "a data root without games is refused" "$out"
has "$out" "looked in $tmp/nothing (ALFWORLD_DATA)" "and it is said where the games were looked for"
