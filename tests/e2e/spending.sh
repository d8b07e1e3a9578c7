#!/bin/sh
# spending.sh BUILD - caps on what a run may spend: none is crossed, by no start of the run;
# with more room the run ends with the bytes of one without a cap.
set -u
build=$1
bin=$build/skillopt
. tests/stub/stub.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
at_most() { # at_most N MOST NAME
  if [ "$1" -le "$2" ]; then echo "ok - $3"; else echo "FAIL - $3: $1, and $2 are allowed"; fi
}
train() { # train FOLDER [KEY=VALUE...]
  folder=$1
  shift
  OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 OPENAI_COMPATIBLE_API_KEY=a-key-of-the-test "$bin" run \
    --config configs/searchqa/default.yaml env.out_root="$folder" model.target=tgt \
    model.optimizer=opt train.train_size=0 train.num_epochs=1 train.batch_size=8 \
    model.calls_in_flight=8 env.split_mode=ratio env.data_path="$tmp/items.jsonl" \
    env.max_completion_tokens=100 "$@" >"$folder.out" 2>"$folder.err"
}
same() { # same NAME FOLDER
  out=$("$bin" lua tests/e2e/compare.lua "$tmp/free" "$2" 2>&1)
  say $? "$1" "$out"
}
asked() { wc -l <"$tmp/log"; }
i=0
while [ $i -lt 30 ]; do
  i=$((i + 1))
  printf '{"id": "q%d", "question": "Is thing %d good?", "answers": ["yes"], "context": "Thing %d is good."}\n' \
    $i $i $i >>"$tmp/items.jsonl"
done

stub_start "$build" --script tests/stub/scripts/qa.lua --log "$tmp/log"
train "$tmp/free"
say $? "a run without a cap ends" "$(tail -n 3 "$tmp/free.err")"
whole=$(asked)

# ---- calls
before=$(asked)
train "$tmp/calls" spend.calls=20
is $? 5 "a run that reaches its cap of calls ends with exit code 5"
has "$tmp/calls.err" "budget of 20 calls is used up" "the reason is the budget"
has "$tmp/calls.err" "raise spend.calls" "what to do is said"
is $(($(asked) - before)) 20 "just as many calls were made"
train "$tmp/calls" spend.calls=20
is $? 5 "the same command again ends so again"
is $(($(asked) - before)) 20 "and makes no call"
train "$tmp/calls" spend.calls=30
is $(($(asked) - before)) 30 "a higher cap counts the calls of all starts"
train "$tmp/calls"
say $? "without a cap the run ends" "$(tail -n 3 "$tmp/calls.err")"
is $(($(asked) - before)) "$whole" "nothing was paid twice"
same "it has the bytes of a run without a cap" "$tmp/calls"

# ---- tokens, at their worst case while they are on the way
train "$tmp/tokens" spend.tokens=9000
is $? 5 "a run that reaches its cap of tokens ends with exit code 5"
used=$(sed -n 's/.*: \([0-9]*\) are spent.*/\1/p' "$tmp/tokens.err")
at_most "${used:-9001}" 9000 "the cap of tokens is not crossed"

# ---- money
before=$(asked)
train "$tmp/unpriced" spend.cost=5 spend.prices=opt=3/15
is $? 5 "a cap in money without a price for each model ends before the first call"
has "$tmp/unpriced.err" "no price for tgt" "the model is named"
is $(($(asked) - before)) 0 "no call was made"
train "$tmp/cost" spend.cost=0.03 --price tgt=1/4,opt=3/15
is $? 5 "both roles count towards one cap in money"
has "$tmp/cost.err" "raise spend.cost" "the cap is named"
train "$tmp/cost" spend.cost=50 --price tgt=1/4,opt=3/15
say $? "with a higher cap the run ends" "$(tail -n 3 "$tmp/cost.err")"
has "$tmp/cost.out" "of \$50.0000" "the last lines say what was spent of it"
same "it has the same bytes, too" "$tmp/cost"
train "$tmp/wrong" spend.cost=5 --price tgt=cheap
is $? 2 "a price that is none is refused"
train "$tmp/priced" --price tgt=1/4,opt=3/15
has "$tmp/priced.out" "spent: $whole calls" "prices alone tell what a run cost"
train "$tmp/half_priced" --price tgt=1/4
has "$tmp/half_priced.out" "no price for opt" "a price that is missing is said"
grep '^spent' "$tmp/half_priced.out"
is $? 1 "and no cost is shown without it"
eval_two() { # eval_two FOLDER PRICES
  OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 "$bin" eval configs/searchqa/default.yaml --skill none \
    --split test --out_root "$1" --target_model one,two --price "$2" env.split_mode=ratio \
    env.data_path="$tmp/items.jsonl" env.max_completion_tokens=100 >"$1.out" 2>"$1.err"
}
eval_two "$tmp/two" one=1/1,two=2/2
tokens=$(sed -n 's/^spent: [0-9]* calls, \([0-9]*\) tokens.*/\1/p' "$tmp/two.out")
has "$tmp/two.out" "\$$(awk "BEGIN { printf \"%.4f\", $tokens * 1.5 / 1000000 }")" \
  "each of several models costs its own price"

# ---- killed: what may have been paid counts at its worst
before=$(asked)
SKILLOPT_FAULT=receive:30:crash train "$tmp/killed" spend.calls=60
is $? 137 "a run under a cap is killed with calls on the way"
train "$tmp/killed" spend.calls=60
at_most $(($(asked) - before)) 60 "calls without an answer on file count, too"
train "$tmp/killed"
same "it ends with the same bytes" "$tmp/killed"
stub_stop

# ---- attempts that fail: those that may have been paid count
stub_start "$build" --script tests/stub/scripts/qa.lua --log "$tmp/log2" --fail-share 0.2 \
  --retry-after 0 --fault cut,rate_limit
train "$tmp/cut" spend.calls="$whole"
is $? 5 "attempts that were cut off count towards the cap"
[ "$(wc -l <"$tmp/log2")" -gt "$whole" ]
say $? "attempts that were refused do not count" "$(wc -l <"$tmp/log2") requests"
train "$tmp/cut"
say $? "without the cap that run ends, too" "$(tail -n 3 "$tmp/cut.err")"
same "its bytes are those of a run without a fault" "$tmp/cut"
stub_stop
