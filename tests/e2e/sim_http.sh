#!/bin/sh
# sim_http.sh BUILD - the simulated model behind HTTP gives the run it gives in the process.
set -u
build=$1
bin=$build/skillopt
. tests/stub/stub.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
train() { # train FOLDER [KEY=VALUE...]
  folder=$1
  shift
  "$bin" run configs/houserules/experiment.lua --quiet env.out_root="$folder" train.num_epochs=1 \
    model.sim_noise=0 "$@" 2>"$folder.err"
}
train "$tmp/inside"
say $? "sim in the process trains" "$(tail -n 3 "$tmp/inside.err")"
stub_start "$build" --script tests/stub/scripts/sim.lua
OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 train "$tmp/outside" model.backend=openai_compatible
say $? "sim behind HTTP trains" "$(tail -n 3 "$tmp/outside.err")"
stub_stop
cmp "$tmp/inside/best_skill.md" "$tmp/outside/best_skill.md" >/dev/null 2>&1
say $? "both give the same skill" "$(diff "$tmp/inside/best_skill.md" "$tmp/outside/best_skill.md" | head -n 4)"
cmp "$tmp/inside/test_eval/results.jsonl" "$tmp/outside/test_eval/results.jsonl" >/dev/null 2>&1
say $? "both give the same marks on the test set" "$(diff "$tmp/inside/test_eval/results.jsonl" "$tmp/outside/test_eval/results.jsonl" | head -n 2)"
