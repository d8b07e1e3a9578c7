#!/bin/sh
# modes.sh BUILD - the shipped example in every way to train: each update mode, guidance and
# memory between epochs, notes on rules that were not followed. All end better than they began.
set -u
bin=$1/skillopt
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
mark() { # mark FOLDER FIELD: a figure of the summary
  sed -n "s/^ *\"$2\": \\([0-9.]*\\),*\$/\\1/p" "$1/summary.json"
}
train() { # train NAME WORDS ARGUMENT...: a run and what became of its test score
  run=$tmp/$1
  words=$2
  shift 2
  "$bin" run configs/houserules/experiment.lua env.out_root="$run" env.limit=40 "$@" \
    >"$run.out" 2>&1
  say $? "$words: the run ends" "$(tail -n 3 "$run.out")"
  before=$(mark "$run" baseline_test_hard)
  after=$(mark "$run" test_hard)
  awk -v a="$before" -v b="$after" 'BEGIN { exit !(b >= a + 0.2) }'
  say $? "$(printf '%s: test %.3f before, %.3f after' "$words" "$before" "$after")" "not 0.2 better"
}
has() { # has PATTERN FILES NAME
  grep -qE -- "$1" $2 2>/dev/null
  say $? "$3" "no $1 in $2"
}
train patch "patch mode" optimizer.skill_update_mode=patch
has 'slow update. acceptance=off$' "$run.out" "the start says that there is no slow update"
has '"edit_apply_summary"' "$run/history.json" "patch mode applied edits"
train rewrite "rewriting from suggestions" optimizer.skill_update_mode=rewrite_from_suggestions
has '"new_skill"' "$run/steps/step_*/rewrite_result.json" "rewriting wrote documents"
train full "whole documents of the analysts" optimizer.skill_update_mode=full_rewrite_minibatch
has '"selected_candidate"' "$run/steps/step_*/full_rewrite_result.json" "a document of an analyst was taken"
train slow "slow update and meta skill" optimizer.use_slow_update=true optimizer.use_meta_skill=true \
  train.num_epochs=3 optimizer.slow_update_samples=10
has 'slow update. acceptance=force$' "$run.out" "the start says that guidance is taken by force"
has '"force_accept"' "$run/slow_update/epoch_*/slow_result.json" "guidance was written between epochs"
has '"write_meta_skill"' "$run/meta_skill/epoch_*/meta_skill_result.json" "a memory was written between epochs"
train aware "skill-aware reflection" optimizer.use_skill_aware_reflection=true
has '"n_appendix_notes_total": [1-9]' "$run/history.json" "notes were taken"
has '^- First take the line' "$run/skills/skill_v*.md" "the notes stand in the skill"
train gated "gated slow update" optimizer.use_slow_update=true train.num_epochs=3 \
  optimizer.slow_update_gate_with_selection=true optimizer.slow_update_samples=10
has 'slow update. acceptance=gated$' "$run.out" "the start says that guidance has to pass the gate"
has '"selection_hard"' "$run/slow_update/epoch_*/slow_result.json" "guidance was measured"
