#!/bin/sh
# commands.sh BUILD - help everywhere, the nearest name, looking at runs, and each exit code
# of the table provoked (5 has no cause yet: a unit test of the table stands for it).
set -u
bin=$(cd "$1" && pwd)/skillopt
form=${SKILLOPT_TEST_FORM:-short}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0
verdict() { # verdict CODE NAME DETAIL
  if [ "$1" -eq 0 ]; then
    echo "ok - $2"
  else
    echo "FAIL - $2: $3"
    failures=1
  fi
}
is() { # is GOT WANTED NAME
  [ "$1" = "$2" ]
  verdict $? "$3" "got $1, wanted $2: $(tail -n 3 "$tmp/err" 2>/dev/null)"
}
call() { # call ARGUMENTS...: code in $code, output in out and err
  timeout 60 "$bin" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
  code=$?
}
has() { # has FILE TEXT NAME
  grep -qF -- "$2" "$1"
  verdict $? "$3" "'$2' is not in: $(tail -n 5 "$1")"
}
config=configs/houserules/default.yaml
small="train.num_epochs=1 train.batch_size=4 evaluation.sel_env_num=4 evaluation.eval_test=false env.limit=4"

wrong=
for name in $("$bin" list commands | tail -n +2 | cut -d ' ' -f 1); do
  for way in "$name -h" "$name --help" "help $name"; do
    # shellcheck disable=SC2086
    call $way
    [ $code -eq 0 ] && grep -q '^usage: skillopt ' "$tmp/out" || wrong="$wrong '$way' ($code)"
  done
done
[ -z "$wrong" ]
verdict $? "every command has -h, --help and help COMMAND" "$wrong"
call help exit-codes
has "$tmp/out" "130  interrupted" "the exit codes can be asked for"
call rnu
is $code 2 "an unknown command ends with 2"
has "$tmp/err" "did you mean \`skillopt run\`?" "an unknown command is told the nearest name"
call run $config --num-epoch 3
has "$tmp/err" "did you mean --num_epochs?" "an unknown flag is told the nearest name"
call run $config train.num_epoch=3
has "$tmp/err" "did you mean train.num_epochs?" "an unknown key is told the nearest name"
is $code 2 "an unknown key ends with 2"
call
is $code 2 "no command at all ends with 2"
call run nowhere.yaml
is $code 2 "a configuration that is not there ends with 2"

printf '{"id": "a", "question": "q"}\n{"id": "a", "question": "q"}\n{"id": "b", "question": "q"}\n' >"$tmp/twice.jsonl"
call run $config env.split_mode=ratio env.data_path="$tmp/twice.jsonl" env.out_root="$tmp/data"
is $code 3 "an id that stands twice ends with 3"

OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:9/v1 call run $config $small model.backend=openai_compatible \
  model.retries=0 env.out_root="$tmp/nobody"
is $code 4 "nobody at the other end ends with 4"

call check $config
is $code 0 "a configuration that is fine is checked with 0"
has "$tmp/out" "fine: nothing is in the way" "a check says what would be run"
call check $config model.backend=openai_compatible
is $code 4 "a check without a login ends with 4"
call check $config train.sead=1 --json
is $code 2 "a check of a wrong key ends with 2"
call check $config --report
has "$tmp/out" "train.batch_size" "a report has every value"
call check
is $code 2 "a check of nothing ends with 2"
call run $config $small env.out_root="$tmp/run" --quiet
is $code 0 "a run ends with 0"
call run $config $small env.out_root="$tmp/run" train.seed=7
is $code 6 "the folder of another run ends with 6"
call show "$tmp/run"
is $code 0 "a run is shown"
has "$tmp/out" "ended, 1 of 1 steps" "the page of a run says how it stands"
call show "$tmp/run" 1
has "$tmp/out" "step 1, epoch 1" "a step is shown"
call show "$tmp/run" 9
is $code 2 "a step that is not there ends with 2"
call show "$tmp/run" --skill last --diff initial
is $code 0 "what changed in the skill is shown"
call show "$tmp/run" --json
"$bin" lua tests/e2e/commands/is_json.lua "$tmp/out" >/dev/null
verdict $? "show --json writes JSON" "$(head -n 3 "$tmp/out")"
cp -r "$tmp/run" "$tmp/other"
call diff "$tmp/run" "$tmp/other"
has "$tmp/out" "configuration: the same" "two equal runs differ in nothing"
printf '{"step' >"$tmp/other/summary.json"
call show "$tmp/other"
is $code 6 "a damaged folder ends with 6"
has "$tmp/out" "damaged: summary.json" "what is damaged is named"
mkdir "$tmp/empty"
call show "$tmp/empty"
is $code 6 "a folder without a run ends with 6"
mkdir "$tmp/none"
call list runs --root "$tmp/none"
is "$(cat "$tmp/out")" none "no runs are none"

mkdir -p "$tmp/b/policies/metric"
cp tests/e2e/commands/broken.lua "$tmp/b/"
cp tests/e2e/commands/raises.lua "$tmp/b/policies/metric/"
printf '_base_: %s/%s\nenv:\n  split_dir: data/houserules\n' "$(pwd)" $config >"$tmp/b/b.yaml"
call run "$tmp/b/b.yaml" $small env.name=broken env.limit=0 evaluation.sel_env_num=0 \
  env.out_root="$tmp/little"
is $code 7 "too little measured ends with 7"
has "$tmp/err" "items failed" "how many failed is said"
call run "$tmp/b/b.yaml" $small policy.metric=raises env.out_root="$tmp/fault"
is $code 2 "a policy of the user's that raises ends with 2"
has "$tmp/err" "policies/metric/raises.lua:" "the line that raised is said"
printf 'error "x"\n' >"$tmp/raises.lua"
call lua "$tmp/raises.lua"
is $code 2 "a script of the user's that raises ends with 2"
mkdir "$tmp/home"
cp -R lua "$tmp/home/"
printf 'return { summary = "raises", run = function() error "x" end }\n' \
  >"$tmp/home/lua/commands/list.lua"
export SKILLOPT_HOME="$tmp/home"
call list envs
unset SKILLOPT_HOME
is $code 70 "a fault in the program's own code ends with 70"
has "$tmp/err" "commands/list.lua:1: x" "the line that raised is said"

# Runs in different modes are told apart: three of them, all in the longer forms.
modes="policy.update=rewrite policy.slow_update=longitudinal policy.appendix=skill_aware"
[ "$form" = short ] || modes="$modes policy.update=full_rewrite policy.rate=autonomous \
  policy.meta_skill=epoch policy.gate=none"
for mode in $modes; do
  call run $config $small $mode env.out_root="$tmp/mode" --quiet
  call show "$tmp/mode"
  sed 's/^[^:]*: //' "$tmp/out" >>"$tmp/modes.$mode"
  rm -rf "$tmp/mode"
done
count=$(echo $modes | wc -w)
is "$(cat "$tmp"/modes.* | grep -c '^  update ')" "$count" "each mode has its page"
is "$(for m in "$tmp"/modes.*; do grep -E '^  (update|slow)' "$m" | cksum; done | sort -u | wc -l)" "$count" \
  "runs in different modes are told apart"

# What `skillopt new` writes works as it is.
mkdir "$tmp/new" && ln -s "$(pwd)/data" "$tmp/new/data"
cd "$tmp/new" || exit 1
others=
[ "$form" = short ] || others="rate/linear update/rewrite aggregate/tree loop/skillopt metric/mixed"
for what in "env a_env" "experiment a_experiment" "policy a_policy" "policy a_reflect --slot reflect" \
  $(echo $others | sed 's#\([a-z]*\)/\([a-z]*\)#policy=a_\1=--slot=\1=--from=\2#g'); do
  what=$(echo "$what" | tr '=' ' ')
  # shellcheck disable=SC2086
  call new $what
  is $code 0 "new $what writes a folder"
  name=$(echo "$what" | cut -d ' ' -f 2)
  call test "$name"
  [ $code -eq 0 ] && grep -q "^ok - $name/smoke.yaml trains" "$tmp/out"
  verdict $? "test $name trains it" "$(cat "$tmp/out" "$tmp/err")"
  ! grep -rq 'NAME\|SLOT' "$name" --include='*.lua' --include='*.yaml'
  verdict $? "nothing of the template's words is left in $name" "$(grep -r 'NAME\|SLOT' "$name")"
done
before=$(cat a_env/*.lua | cksum)
call new env a_env
is "$code $(cat a_env/*.lua | cksum)" "2 $before" "nothing is overwritten"
for what in "evn x" "env X" "env ../x" "env" "policy x --slot gat" "policy x --from none_such" \
  "env x --slot gate" "env houserules"; do
  # shellcheck disable=SC2086
  call new $what
  is $code 2 "new $what is refused"
done
[ ! -e x ]
verdict $? "what is refused writes nothing" "$(ls)"
call test a_env --only trains
is "$(grep -c . "$tmp/out")" 1 "one of the tests can be chosen"
sed -i 's/backend: sim/backend: openai_compatible/' a_env/smoke.yaml
call test a_env
is $code 1 "a test that fails ends with 1"
has "$tmp/out" "a smoke test asks the simulated model" "a smoke test goes to no paid model"
cd - >/dev/null || exit 1

refused() { # refused TEXT ARGUMENTS...: ends with 2, says TEXT, shows no traceback
  text=$1
  shift
  call "$@"
  cat "$tmp/out" >>"$tmp/err"
  [ $code -eq 2 ] && grep -qF -- "$text" "$tmp/err" && ! grep -q traceback "$tmp/err"
  verdict $? "refused: $1: $text" "exit code $code: $(head -n 3 "$tmp/err")"
}
for name in run eval check config show diff list new test replay data chat lua help; do
  refused "" $name ""
done
for name in run check config; do
  refused "is the folder of a run, not a configuration" $name "$tmp/run"
  refused "is a Markdown file" $name "$tmp/run/best_skill.md"
  refused "name the file in it: " $name "$(dirname "$bin")/../../configs/houserules"
done
refused "not valid UTF-8" chat --backend sim "$(printf 'a\377')"
refused "there is no $tmp/nothing" test "$tmp/nothing"
refused "there is no file $tmp/nothing" lua "$tmp/nothing"
refused "there is no run 'nothing'" replay nothing
refused "there is no folder $tmp/nothing" list runs --root "$tmp/nothing"
refused "--root is for" list envs --root "$tmp"
refused "not both" show "$tmp/run" 1 --skill 1
refused "leave out one" check $config --report --json
refused "is no price" check $config --price sim=1/
refused "env.skill_init: cannot open" run $config env.skill_init="$tmp/nothing.md"
printf 'return require("skillopt").experiment { base = "houserules/default.yaml",
  policy = { loop = function() end } }' >"$tmp/no_end.lua"
refused "came to its end without a result" run "$tmp/no_end.lua" env.out_root="$tmp/no_end"
printf 'return {' >"$tmp/syntax.lua"
refused "syntax.lua:1: unexpected symbol" run "$tmp/syntax.lua"
call show /
is $code 6 "a folder that is no run's ends with 6"
call replay "$tmp/run/" --json
is "$code $(cut -c 1-24 "$tmp/out")" '0 {"ok": true, "complete":' "a replay is written as JSON"
env -u OPENAI_COMPATIBLE_API_KEY -u TARGET_OPENAI_COMPATIBLE_API_KEY timeout 60 "$bin" chat hello \
  >"$tmp/out" 2>"$tmp/err" </dev/null
is $? 4 "nothing is sent to a server that nobody named without a login"
has "$tmp/err" "the target has no login for https://" "the missing login is named"
call run $config $small env.out_root="$tmp/capped" spend.cost=1
is $code 0 "the simulated model costs nothing, under a cap in money too"

timeout 60 "$bin" run $config $small model.sim_latency_seconds=0.4 env.out_root="$tmp/busy" \
  >"$tmp/busy.out" 2>&1 </dev/null &
pid=$!
until [ -s "$tmp/busy.out" ]; do kill -0 $pid 2>/dev/null || break; done
call run $config $small model.sim_latency_seconds=0.4 env.out_root="$tmp/busy"
is $code 6 "a folder in which somebody works ends with 6"
call show "$tmp/busy"
has "$tmp/out" ": running, " "a run that goes on can be looked at"
run=$(cut -d" " -f1 "/proc/$pid/task/$pid/children" 2>/dev/null) # of timeout; ps is not everywhere
kill -INT "${run:-$pid}"
wait $pid
is $? 130 "an interrupt ends with 130"
if [ "$form" = short ]; then
  echo "skip - one signal ends a program that is busy in Lua: long form only (it takes 15 s)"
else
  echo 'while true do end' >"$tmp/busy.lua"
  timeout -k 30 1 "$bin" run "$tmp/busy.lua" >/dev/null 2>&1 </dev/null
  is $? 124 "one signal ends a program that is busy in Lua" # 137: it had to be killed
fi
exit $failures
