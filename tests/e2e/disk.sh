#!/bin/sh
# disk.sh BUILD - what can happen to a run folder on its disk: each time the program says
# what is lost and what to do, and nothing is lost in silence.
set -u
. tests/e2e/faults/case.sh
trap 'rm -rf "$tmp"' EXIT

refused() { # refused CODE NAME TEXT...: exit code 6, and each text is said in $tmp/err
  code=$1
  name=$2
  shift 2
  [ "$code" -eq 6 ] || { echo "FAIL - $name: exit code $code $(tail -n 3 "$tmp/err")"; return; }
  for text in "$@"; do
    grep -qF -- "$text" "$tmp/err" || { echo "FAIL - $name: '$text' is not in: $(cat "$tmp/err")"; return; }
  done
  echo "ok - $name"
}
again() { # again NAME FOLDER [ARGUMENT...]: the same command ends with the same bytes
  again_name=$1
  again_folder=$2
  shift 2
  train "$again_folder" "$@" >"$tmp/out" 2>"$tmp/err"
  say $? "$again_name: the run ends" "$(tail -n 3 "$tmp/err")"
  same "$again_name: the bytes are the same" "$tmp/whole" "$again_folder"
}
killed() { # killed FOLDER: a run that was killed in its middle
  SKILLOPT_FAULT=commit:25:crash train "$1" model.calls_in_flight=4 >/dev/null 2>&1
}
with_loss() { # with_loss NAME FOLDER: refused as it is, goes on with --accept-loss and says so
  train "$2" >/dev/null 2>"$tmp/err"
  refused $? "$1 is refused with what to do" "--accept-loss"
  again "$1, accepted" "$2" --accept-loss
}

train "$tmp/whole" 2>"$tmp/err"
say $? "an undisturbed run ends" "$(tail -n 3 "$tmp/err")"
killed "$tmp/killed"
say $(($? - 137)) "a run is killed in its middle" "it was not"

# ---- what a process that was killed leaves
cp -r "$tmp/killed" "$tmp/copy"
again "a folder that was copied after a kill" "$tmp/copy"
cp -r "$tmp/killed" "$tmp/no_wal"
rm "$tmp/no_wal/journal.db-wal"
train "$tmp/no_wal" >/dev/null 2>"$tmp/err"
refused $? "a missing journal.db-wal is refused with how much is missing" "stored" "missing" "--accept-loss"
again "a missing journal.db-wal, accepted" "$tmp/no_wal" --accept-loss
grep -q "lost; what they held is asked again" "$tmp/err"
say $? "what is lost is said" "$(cat "$tmp/err")"
cp -r "$tmp/killed" "$tmp/torn"
head -c 70 "$tmp/killed/journal.head" >"$tmp/torn/journal.head"
with_loss "a torn head" "$tmp/torn"
cp -r "$tmp/killed" "$tmp/other"
cp "$tmp/whole/journal.head" "$tmp/other/journal.head"
with_loss "a head of another run" "$tmp/other"

# ---- a folder in use
cp -r "$tmp/killed" "$tmp/busy"
"$bin" run configs/houserules/experiment.lua --quiet env.out_root="$tmp/busy" env.limit=12 train.batch_size=4 \
  train.num_epochs=1 gradient.minibatch_size=2 model.sim_latency_seconds=0.5 >/dev/null 2>&1 &
pid=$!
while ! grep -qs "pid $pid" "$tmp/busy/run.lock"; do kill -0 $pid 2>/dev/null || break; done
train "$tmp/busy" >/dev/null 2>"$tmp/err"
refused $? "a folder in use is refused with who uses it" "is using this folder" "process $pid" "wait until it has ended"
cp -r "$tmp/busy" "$tmp/live_copy"
train "$tmp/live_copy" >/dev/null 2>"$tmp/live.err"
code=$?
kill -9 $pid
wait $pid 2>/dev/null
again "a folder whose user was killed" "$tmp/busy"
if [ $code -eq 0 ]; then
  same "a copy of a folder in use goes on by itself" "$tmp/whole" "$tmp/live_copy"
else
  cp "$tmp/live.err" "$tmp/err"
  refused $code "a copy of a folder in use is refused when it is torn" "--accept-loss"
fi

# ---- another format, and one bit anywhere
cp -r "$tmp/whole" "$tmp/older"
lua5.4 tests/e2e/faults/flip.lua "$tmp/older/journal.db" 63 0
train "$tmp/older" >/dev/null 2>"$tmp/err"
refused $? "another format is refused with both numbers" "has journal format 0, this program reads format 1" \
  "use the version of skillopt that wrote it"
size=$(wc -c <"$tmp/whole/journal.db")
n=0
noticed=0
while [ $n -lt "$(pick 8 100 1000)" ]; do
  n=$((n + 1))
  rm -rf "$tmp/flipped"
  cp -r "$tmp/whole" "$tmp/flipped"
  draw $((size / 64))
  block=$drawn
  draw 512
  at=$((block * 64 + drawn / 8))
  lua5.4 tests/e2e/faults/flip.lua "$tmp/flipped/journal.db" $at $((drawn % 8))
  train "$tmp/flipped" >/dev/null 2>"$tmp/err"
  code=$?
  # Exit 0 only where nothing of a row was touched.
  if [ $code -eq 0 ]; then
    same "bit $((drawn % 8)) of byte $at does not matter" "$tmp/whole" "$tmp/flipped" >"$tmp/out" || cat "$tmp/out"
    continue
  fi
  noticed=$((noticed + 1))
  [ $code -eq 6 ] && grep -q "^  " "$tmp/err" && grep -q "journal" "$tmp/err" && continue
  echo "FAIL - bit $((drawn % 8)) of byte $at: exit code $code without what to do: $(cat "$tmp/err")"
done
[ $noticed -gt 0 ]
say $? "one bit anywhere: $noticed of $n were noticed, the others change nothing" "none was noticed"

# ---- a network file system, whose locks cannot be relied on
if ${CC:-cc} -shared -fPIC -o "$tmp/network.so" tests/e2e/faults/network.c 2>"$tmp/err"; then
  if ldd "$bin" | grep -q asan; then
    echo "skip - a network file system: a sanitizer wants to be loaded first"
  else
    on_network() { LD_PRELOAD=$tmp/network.so "$bin" run configs/houserules/experiment.lua env.limit=12 \
      env.out_root="$tmp/network" train.batch_size=4 train.num_epochs=1 gradient.minibatch_size=2; }
    SKILLOPT_FAULT=commit:25:crash on_network >"$tmp/out" 2>&1
    has "$tmp/out" "network file system" "a network file system is told"
    [ ! -e "$tmp/network/journal.db-wal" ]
    say $? "on a network file system there is no WAL" "there is"
    printf 'pid 1\nhost elsewhere\nstarted %s\nheartbeat %s\n' "$(date -u +%FT%TZ)" "$(date -u +%FT%TZ)" \
      >"$tmp/network/run.lock"
    on_network >/dev/null 2>"$tmp/err"
    refused $? "there a holder on another host counts as alive while it gives signs" "on elsewhere is using this folder"
    printf 'pid 1\nhost elsewhere\nstarted 2020-01-01T00:00:00Z\nheartbeat 2020-01-01T00:00:00Z\n' \
      >"$tmp/network/run.lock"
    on_network >"$tmp/out" 2>"$tmp/err"
    say $? "a holder that gives no sign is followed" "$(cat "$tmp/err")"
    has "$tmp/out" "took over from process 1 on elsewhere" "taking over is told"
    same "on a network file system the bytes are the same" "$tmp/whole" "$tmp/network"
  fi
else
  echo "FAIL - the library that plays a network file system builds: $(cat "$tmp/err")"
fi

# ---- a full and a read-only disk, in a mount namespace of our own
cat >"$tmp/small.sh" <<'END'
# In the namespace: a disk of $1 KiB that is full in the middle, then larger, then read-only.
. tests/e2e/faults/case.sh
rm -rf "$tmp"
tmp=$small
mount -t tmpfs -o size=$2k tmpfs "$tmp/mnt" || exit 99
train "$tmp/mnt/run" >/dev/null 2>"$tmp/full.err"
echo $? >"$tmp/full.code"
mount -o remount,size=64m "$tmp/mnt"
train "$tmp/mnt/run" >/dev/null 2>"$tmp/after.err"
echo $? >"$tmp/after.code"
"$bin" lua tests/e2e/compare.lua "$tmp/whole" "$tmp/mnt/run" >"$tmp/compared"
mount -o remount,ro "$tmp/mnt"
train "$tmp/mnt/run" >/dev/null 2>"$tmp/ro.err"
echo $? >"$tmp/ro.code"
train "$tmp/mnt/new" >/dev/null 2>"$tmp/ro_new.err"
echo $? >"$tmp/ro_new.code"
"$bin" replay "$tmp/mnt/run" --verify >"$tmp/ro.replay" 2>&1
echo $? >"$tmp/replay.code"
END
mkdir -p "$tmp/mnt"
if unshare -Urm true 2>/dev/null; then
  for size in $(pick 17100 "16450 16900 17100 17400 17800" "$(seq -s ' ' 16450 50 18300)"); do
    small=$tmp unshare -Urm sh "$tmp/small.sh" "$1" "$size" 2>"$tmp/err"
    say $? "a disk of $size KiB can be made" "$(cat "$tmp/err")"
    cp "$tmp/full.err" "$tmp/err"
    refused "$(cat "$tmp/full.code")" "a full disk ($size KiB) is named with what to do" "cannot write" "free some space"
    [ "$(cat "$tmp/after.code")" -eq 0 ]
    say $? "with room the same command ends the run ($size KiB)" "$(cat "$tmp/after.err")"
    grep -q "^equal" "$tmp/compared"
    say $? "a full disk ($size KiB) leaves the same bytes" "$(cat "$tmp/compared")"
  done
  for case in ro ro_new; do
    cp "$tmp/$case.err" "$tmp/err"
    refused "$(cat "$tmp/$case.code")" "a read-only disk is named with what to do ($case)" "read-only" "choose another folder"
  done
  grep -q "^equal" "$tmp/ro.replay"
  say $? "a run on a read-only disk replays" "$(cat "$tmp/ro.replay")"
else
  echo "skip - a full and a read-only disk: no mount namespace of our own to be had here"
fi
