#!/bin/sh
# flips.sh BUILD - `replay --verify` notices one byte that was changed in what a run stored:
# in the file, where the chain tells; and in a journal written anew around the change, where
# the decisions, the digests of sources and items and the run's files tell.
set -u
. tests/e2e/faults/case.sh
trap 'rm -rf "$tmp"' EXIT

train "$tmp/run" 2>"$tmp/err"
say $? "an undisturbed run ends" "$(tail -n 3 "$tmp/err")"
out=$("$bin" replay "$tmp/run" --verify 2>&1)
say $? "the run replays equal as it is" "$out"
${CC:-cc} -o "$tmp/plant" tests/e2e/faults/plant.c -lsqlite3 2>"$tmp/err"
say $? "the program that plants a change builds" "$(cat "$tmp/err")"

planted() { # planted SHARD COUNT: every second change
  cp -r "$tmp/run" "$tmp/run.$1"
  n=$1
  while [ "$n" -lt "$2" ]; do
    case $((n / 2 % 5)) in 0 | 1) kind=effect ;; 2) kind=decision ;; 3) kind=source ;; *) kind=body ;; esac
    cp "$tmp/run/journal.db" "$tmp/run.$1/journal.db"
    if ! row=$("$tmp/plant" "$tmp/run.$1/journal.db" $kind "$n"); then
      echo "FAIL - change $n is planted in a row of kind $kind: it could not be"
    else
      "$bin" replay "$tmp/run.$1" --verify >"$tmp/out.$1" 2>&1
      code=$?
      { [ $code -eq 6 ] && grep -q "row $row of .* is damaged" "$tmp/out.$1"; } ||
        echo "FAIL - change $n in row $row ($kind) is noticed: exit code $code: $(cat "$tmp/out.$1")"
    fi
    n=$((n + 2))
  done
}
count=$(pick 60 1000 3000)
planted 0 "$count" >"$tmp/planted.0" &
other=$!
planted 1 "$count" >"$tmp/planted.1"
wait $other
cat "$tmp/planted.0" "$tmp/planted.1"
[ -s "$tmp/planted.0" ] || [ -s "$tmp/planted.1" ] || echo "ok - each of $count changed bytes is noticed, with the row named"

mkdir "$tmp/forged"
missed=0
n=0
count=$(pick 8 150 600)
while [ $n -lt "$count" ]; do
  case $((n % 4)) in 0) kind=effect ;; 1) kind=decision ;; 2) kind=source ;; *) kind=item ;; esac
  rm -rf "$tmp/forged"
  cp -r "$tmp/run" "$tmp/forged"
  what=$("$bin" lua tests/e2e/faults/forge.lua "$tmp/run/journal.db" "$tmp/forged/journal.db" $kind $n 2>&1) || {
    echo "FAIL - a $kind is forged: $what"
    break
  }
  "$bin" replay "$tmp/forged" --verify >"$tmp/out" 2>&1
  code=$?
  if [ $code -ne 6 ]; then
    missed=$((missed + 1))
    echo "FAIL - a forged $kind is noticed with exit code 6: $code: $what: $(cat "$tmp/out")"
  fi
  n=$((n + 1))
done
[ $missed -eq 0 ] && [ $n -eq "$count" ] && echo "ok - each of $count forged answers, decisions, sources and items is noticed"
