#!/bin/sh
# scale.sh BUILD - what an evaluation costs in memory: per item, between two sizes, and per
# call in flight. Sizes are counted, nothing is timed. The full form takes a million items
# of 2 kB and ten thousand calls in flight.
set -u
build=$1
bin=$build/skillopt
form=${SKILLOPT_TEST_FORM:-short}
if grep -q "__[at]san_init" "$bin"; then
  echo "skip - what an item and a call in flight cost in memory: a sanitizer has its own"
  exit 0
fi
. tests/stub/stub.sh
tmp=$(mktemp -d)
trap 'stub_stop; rm -rf "$tmp"' EXIT
. tests/say.sh
data() { # data ITEMS: the folder, made once
  [ -d "$tmp/data_$1" ] || "$bin" lua tests/e2e/scale/make.lua "$tmp/data_$1" "$1" >&2
  echo "$tmp/data_$1"
}
# measure NAME ITEMS [KEY=VALUE...]: run; peak_kb is the most memory it had.
measure() {
  name=$1
  folder=$(data "$2")
  shift 2
  "$bin" run tests/e2e/scale/experiment.lua --quiet env.split_dir="$folder" \
    env.out_root="$tmp/$name" "$@" 2>"$tmp/$name.err" &
  pid=$!
  peak_kb=0
  while kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$pid/status 2>/dev/null) &&
    [ -n "$kb" ]; do
    peak_kb=$kb
    sleep 0.05
  done
  wait $pid
}
serve() { # serve [OPTIONS...]: a provider, in a process of its own
  stub_start "$build" --script tests/e2e/scale/hold.lua --max-seconds 7200 "$@"
  OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1
  export OPENAI_COMPATIBLE_BASE_URL
}

# --- memory an item ---
HOLD_FROM=999999999
HOLD_MS=0
export HOLD_FROM HOLD_MS
# With few items the slabs of the allocator, two megabytes each, are a part of the figure.
small=2000 large=6000 bound=3000 more=2000
[ "$form" = short ] || { small=10000 large=60000 bound=500 more=600; }
[ "$form" = full ] && { small=50000 large=1000000; }
serve
measure small $small policy.loop.rounds=1
say $? "an evaluation of $small items ends" "$(tail -n 3 "$tmp/small.err")"
small_kb=$peak_kb
measure large $large policy.loop.rounds=1
say $? "an evaluation of $large items ends" "$(tail -n 3 "$tmp/large.err")"
each=$(((peak_kb - small_kb) * 1024 / (large - small)))
echo "# $small items: $small_kb kB, $large items: $peak_kb kB; $each bytes an item"
[ $each -lt $bound ]
say $? "an item costs less than $bound bytes, its data and its journal included" "$each bytes"
[ "$(wc -l <"$tmp/large/round_1/results.jsonl")" -eq $large ]
say $? "every item has its row" "$(wc -l <"$tmp/large/round_1/results.jsonl")"
rm -rf "$tmp/large" "$tmp/data_$large"
measure second $small policy.loop.rounds=4
say $? "four evaluations of $small items end" "$(tail -n 3 "$tmp/second.err")"
each=$(((peak_kb - small_kb) * 1024 / (small * 3)))
echo "# one evaluation more: $each bytes an item"
[ $each -lt $more ]
say $? "one evaluation more costs less than $more bytes an item" "$each bytes"
stub_stop

# --- memory a call in flight ---
calls=300 hold=3000 bound=60
# The aim is 40 kB; 35 to 37 were seen, which a collection more or less moves by a tenth.
[ "$form" = short ] || { calls=10000 hold=60000 bound=44; }
serve
measure few $((2 * calls)) env.workers=64 model.calls_in_flight=64
few_kb=$peak_kb
stub_stop
HOLD_FROM=$((calls + 5))
HOLD_MS=$hold
serve
measure many $((2 * calls)) env.workers=$calls model.calls_in_flight=$calls
say $? "a run with $calls calls in flight ends" "$(tail -n 3 "$tmp/many.err")"
most=$("$bin" lua tests/e2e/scale/stats.lua "$stub_url")
[ "${most:-0}" -ge $calls ]
say $? "$calls calls were in flight at once" "${most:-no answer to /stats}"
each=$(((peak_kb - few_kb) / calls))
echo "# $calls calls in flight: $peak_kb kB, 64: $few_kb kB; $each kB a call"
[ $each -lt $bound ]
say $? "a call in flight costs less than $bound kB" "$each kB"
