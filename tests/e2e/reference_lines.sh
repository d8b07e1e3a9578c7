#!/bin/sh
# reference_lines.sh BUILD - the reference's command lines, with `skillopt run` in place of its
# training script and `skillopt eval` in place of its evaluation script, against the stub. Each
# form is tried with the flags, the order and the line breaks it has there; those for Azure are
# refused with words, those for agent CLIs are not here.
set -u
build=$1
here=$(pwd)
form=${SKILLOPT_TEST_FORM:-short}
. tests/stub/stub.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
stub_start "$build" --script tests/stub/scripts/qa.lua
stub_main=$stub_pid
main_url=$stub_url/v1
stub_start "$build" --script tests/stub/scripts/qa.lua
other_url=$stub_url/v1
mkdir -p "$tmp/data/searchqa_split" "$tmp/skills"
ln -s "$here/configs" "$tmp/configs"
awk 'BEGIN {
  for (i = 1; i <= 412; i++) {
    split_name = i <= 400 ? "train" : i <= 406 ? "val" : "test"
    printf "{\"id\": \"q%d\", \"question\": \"Is thing %d good?\", \"answers\": [\"yes\"], \"context\": \"[DOC] Thing %d is good.\"}\n", i, i, i > "'"$tmp"'/data/searchqa_split/" split_name ".jsonl"
  }
}'
printf '# Answering\n- Look at the passages.\n' >"$tmp/skills/my_seed.md"
PATH=$here/$build:$PATH
export PATH
unset OPENAI_COMPATIBLE_BASE_URL OPENAI_COMPATIBLE_API_KEY QWEN_CHAT_BASE_URL
n=0
works() { # works NAME <<LINES: the commands end well, in a folder with data and configurations
  n=$((n + 1))
  cat >"$tmp/lines"
  (cd "$tmp" && . ./lines) >"$tmp/$n.out" 2>"$tmp/$n.err"
  if [ $? -eq 0 ]; then echo "ok - $1"; else echo "FAIL - $1: $(tail -n 3 "$tmp/$n.err")"; fi
}
refused() { # refused NAME WORDS <<LINES
  n=$((n + 1))
  cat >"$tmp/lines"
  (cd "$tmp" && . ./lines) >"$tmp/$n.out" 2>"$tmp/$n.err"
  code=$?
  if [ $code -eq 2 ] && grep -qF -- "$2" "$tmp/$n.err"; then
    echo "ok - $1"
  else
    echo "FAIL - $1: exit $code, $(tail -n 3 "$tmp/$n.err")"
  fi
}
there() { # there FILE NAME
  if [ -f "$tmp/$1" ]; then echo "ok - $2"; else echo "FAIL - $2: $1 is not there"; fi
}
export OPENAI_COMPATIBLE_BASE_URL="$main_url"

# Training. A run of ten steps each; the reference's four epochs are for the long form.
works "train: configuration, split folder, models, epochs" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --split_dir data/searchqa_split \
  --optimizer_model gpt-5.5 \
  --target_model gpt-5.5 \
  --num_epochs 1
LINES
there outputs/searchqa/0001/best_skill.md "the run's folder holds the best skill"
works "train: an output folder, batch size and workers" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --split_dir data/searchqa_split \
  --num_epochs 1 \
  --batch_size 200 \
  --workers 8 \
  --out_root outputs/searchqa_run
LINES
for file in best_skill.md history.json config.json runtime_state.json skills/skill_v0001.md \
  steps/step_0001/ranked_edits.json; do
  there "outputs/searchqa_run/$file" "the reference's file $file is there"
done
works "train: the same line again resumes" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --split_dir data/searchqa_split \
  --num_epochs 1 \
  --batch_size 200 \
  --workers 8 \
  --out_root outputs/searchqa_run
LINES
if grep -q 'this run has ended' "$tmp/$n.out"; then echo "ok - and pays nothing"; else echo "FAIL - and pays nothing: $(head -n 1 "$tmp/$n.out")"; fi
works "train: --cfg-options with several keys" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --cfg-options optimizer.learning_rate=16 optimizer.lr_scheduler=linear \
    train.num_epochs=1 train.batch_size=200
LINES
works "train: an initial skill of one's own" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --cfg-options env.skill_init=skills/my_seed.md train.num_epochs=1 train.batch_size=200
LINES
works "train: a back-end for each role, named as keys" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --cfg-options \
    model.optimizer_backend=openai_compatible \
    model.target_backend=openai_compatible \
    model.optimizer=deepseek-chat \
    model.target=deepseek-chat train.num_epochs=1 train.batch_size=200
LINES
export QWEN_CHAT_BASE_URL="$other_url"
works "train: a local model as target" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --split_dir data/searchqa_split \
  --optimizer_backend openai_compatible \
  --target_backend qwen_chat \
  --target_model Qwen/Qwen3.5-4B --num_epochs 1 --batch_size 200
LINES
unset QWEN_CHAT_BASE_URL
export main_url other_url
works "train: both roles local, each at its own server" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --optimizer_backend qwen_chat --target_backend qwen_chat \
  --optimizer_qwen_chat_base_url $main_url \
  --target_qwen_chat_base_url $other_url --target_qwen_chat_thinking_mode disabled \
  --num_epochs 1 --batch_size 200
LINES
if [ "$form" != short ]; then
  works "train: nothing but the configuration" <<'LINES'
skillopt run --config configs/searchqa/default.yaml
LINES
fi

# Evaluation.
works "eval: the best skill on the test split" <<'LINES'
skillopt eval \
  --config configs/searchqa/default.yaml \
  --skill outputs/searchqa_run/best_skill.md \
  --split valid_unseen
LINES
there outputs/searchqa-eval/0001/eval_summary.json "its folder holds eval_summary.json"
works "eval: on the validation split" <<'LINES'
skillopt eval \
  --config configs/searchqa/default.yaml \
  --skill outputs/searchqa_run/best_skill.md \
  --split valid_seen
LINES
works "eval: on all splits, with a split folder" <<'LINES'
skillopt eval \
  --config configs/searchqa/default.yaml \
  --skill outputs/searchqa_run/best_skill.md \
  --split all \
  --split_dir data/searchqa_split
LINES
works "eval: without a split that is all" <<'LINES'
skillopt eval --config configs/searchqa/default.yaml --skill skills/my_seed.md
LINES
works "eval: the flags of a scripted evaluation" <<'LINES'
skillopt eval \
  --config configs/searchqa/default.yaml \
  --skill skills/my_seed.md \
  --split train \
  --target_model tgt \
  --reasoning_effort low \
  --seed 7 \
  --split_dir data/searchqa_split \
  --test_env_num 5 \
  --workers 4 \
  --out_root outputs/my_eval
LINES
there outputs/my_eval/results.jsonl "an evaluation goes where --out_root says"
works "eval: an optimizer that is not there does not matter" <<'LINES'
skillopt eval \
  --config configs/searchqa/default.yaml \
  --skill skills/my_seed.md --split valid_seen \
  --cfg-options \
    model.optimizer_backend=openai_chat \
    model.target_backend=openai_compatible \
    model.target=tgt
LINES

# Azure: this version has no such back-end, and says so before anything is asked.
azure="this version has no openai_chat, only openai_compatible, qwen_chat, sim"
refused "azure: an endpoint on the command line, training" "model.azure_openai_endpoint: $azure" <<'LINES'
skillopt run \
  --config configs/searchqa/default.yaml \
  --split_dir data/searchqa_split \
  --azure_openai_endpoint https://your-resource.openai.azure.com/ \
  --optimizer_model gpt-5.5 \
  --target_model gpt-5.5
LINES
refused "azure: an endpoint on the command line, evaluation" "model.azure_openai_endpoint: $azure" <<'LINES'
skillopt eval \
  --config configs/searchqa/default.yaml \
  --skill outputs/searchqa_run/best_skill.md \
  --split valid_unseen \
  --split_dir data/searchqa_split \
  --azure_openai_endpoint https://your-resource.openai.azure.com/
LINES
refused "azure: endpoints of the roles" "model.target_azure_openai_endpoint: $azure" <<'LINES'
skillopt run --config configs/searchqa/default.yaml \
  --optimizer_azure_openai_endpoint https://one.openai.azure.com/ \
  --target_azure_openai_endpoint https://two.openai.azure.com/
LINES
refused "azure: the back-end by name" "$azure" <<'LINES'
skillopt run --config configs/searchqa/default.yaml --backend azure_openai
LINES
stub_stop
stub_stop "$stub_main"
