#!/bin/sh
# quickstart.sh BUILD - the shipped example: its data is what the generator makes, and a run
# of it improves the sealed test by 0.2 or more, in less than a minute.
set -u
bin=$1/skillopt
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0

verdict() { # verdict NAME CODE WHY
  if [ "$2" -eq 0 ]; then
    echo "ok - $1"
  else
    echo "FAIL - $1: $3"
    failures=1
  fi
}

seed=$(sed -n 's/.*"seed": \([0-9]*\).*/\1/p' data/houserules/split_manifest.json)
"$bin" lua lua/envs/houserules/generate.lua --seed "$seed" --out "$folder/data" >"$folder/rules" 2>&1
diff -r "$folder/data" data/houserules >"$folder/diff" 2>&1
verdict "the generator's command writes the shipped data again" $? "$(head -n 3 "$folder/diff")"

"$bin" lua lua/envs/houserules/generate.lua --seed x >"$folder/usage" 2>&1
[ $? -eq 2 ] && grep -q '^usage: ' "$folder/usage"
verdict "the generator's command says how it is used" $? "$(cat "$folder/usage")"

timeout 60 "$bin" run configs/houserules/experiment.lua env.out_root="$folder/run" >"$folder/out" 2>&1
verdict "the shipped example is trained in less than a minute" $? "$(tail -n 3 "$folder/out")"

sed -n 's/.*"\(baseline_test_hard\|test_hard\)": \([0-9.]*\).*/\1 \2/p' "$folder/run/summary.json" |
  awk '{ mark[$1] = $2 } END { exit !(mark["test_hard"] - mark["baseline_test_hard"] >= 0.2) }'
verdict "the sealed test improves by 0.2 or more" $? "$(cat "$folder/run/summary.json")"

[ "$(grep -c '^- .*a value like `\|^- A value like `' "$folder/run/best_skill.md")" -ge 5 ]
verdict "the reasons can be read in the skill" $? "$(cat "$folder/run/best_skill.md")"
grep -q '^best skill: .*best_skill.md ([0-9]* tokens: body [0-9]*, protected regions [0-9]*)$' "$folder/out"
verdict "the last lines give the skill's tokens" $? "$(tail -n 3 "$folder/out")"
exit $failures
