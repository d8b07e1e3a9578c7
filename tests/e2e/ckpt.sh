#!/bin/sh
# ckpt.sh BUILD - the shipped skill is what training makes of the example, byte for byte, and
# the command in its README measures it.
set -u
bin=$1/skillopt
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0
say() { # say CODE NAME DETAIL
  if [ "$1" -eq 0 ]; then echo "ok - $2"; else echo "FAIL - $2: $3"; failures=1; fi
}
"$bin" run configs/houserules/experiment.lua --quiet env.out_root="$tmp/run" >"$tmp/out" 2>&1 &&
  "$bin" lua ckpt/card.lua "$tmp/run" "$tmp/made" >>"$tmp/out" 2>&1
say $? "the shipped skill is trained again" "$(tail -n 3 "$tmp/out")"
for name in best_skill.md card.json; do
  cmp ckpt/houserules/$name "$tmp/made/$name" >"$tmp/differs" 2>&1
  say $? "$name of the shipped skill is equal byte for byte (else: make ckpt)" "$(cat "$tmp/differs")"
done

command=$(sed -n 's/^skillopt \(eval .*\)$/\1/p' ckpt/README.md)
name="the command in the README measures the shipped skill"
if [ ! -f lua/commands/eval.lua ]; then
  echo "skip - $name: this version has no eval"
else
  # The words of the command are meant to be split.
  # shellcheck disable=SC2086
  "$bin" $command env.out_root="$tmp/eval" >"$tmp/out" 2>&1
  say $? "$name" "$(tail -n 3 "$tmp/out")"
  # One simulated reply in fifty is a slip, and an evaluation slips elsewhere than the run.
  sed -n 's/^  "hard": \([0-9.]*\),*$/\1/p' "$tmp/eval/eval_summary.json" |
    awk '{ hard = $1 } END { exit !(hard >= 0.9) }'
  say $? "and finds that it solves nine of ten items" "$(tail -n 3 "$tmp/out")"
fi
exit $failures
