#!/bin/sh
# run.sh BUILD - run the benchmarks against the stub and print one table.
#
# A benchmark prints lines `figure NAME VALUE UNIT` (ours) or `bare NAME VALUE UNIT` (the
# same work with the library alone); other lines are shown as they are. Figures and bare
# figures of one name stand in one row with their ratio. Programs are BUILD/bench/bench_*;
# scripts are tests/bench/*.lua, run by BUILD/skillopt lua with three arguments: the URLs of
# providers that answer at once, after 100 ms and after 12 s. Each may take 30 s. Where perf
# is installed the table is followed by where the time of a call and of a replay goes.
set -u
build=$1
here=$(dirname "$0")
. "$here/../stub/stub.sh"
out=$(mktemp) || exit 1
failures=0
pids=
finish() {
  for pid in $pids; do stub_stop "$pid"; done
  rm -f "$out" "$out.perf"
}
trap finish EXIT

run() { # run NAME COMMAND...
  name=$1
  shift
  echo "... $name" >&2
  timeout 30 "$@" >>"$out"
  code=$?
  [ $code -eq 0 ] && return
  failures=$((failures + 1))
  echo "$name: $([ $code -eq 124 ] && echo 'stopped after 30 s' || echo "exit code $code")" >&2
}

stub_start "$build" --fast || exit 1
instant=$stub_url
pids=$stub_pid
stub_start "$build" --fast --latency-ms 100 || exit 1
slow=$stub_url
pids="$pids $stub_pid"

stub_start "$build" --fast --latency-ms 12000 || exit 1
long=$stub_url
pids="$pids $stub_pid"

path=/v1/chat/completions
run http.instant "$build/bench/bench_http" "$instant$path" 60000 64 http.instant
run http.100ms "$build/bench/bench_http" "$slow$path" 10000 256 http.100ms
run http.100ms.steady "$build/bench/bench_http" "$slow$path" 8000 256 http.100ms.steady
run start "$build/bench/bench_start" "$build/skillopt" configs/houserules/experiment.lua
for program in "$build"/bench/bench_*; do
  case $program in
    */bench_http | */bench_start) ;;
    *) run "$(basename "$program")" "$program" ;;
  esac
done
script() { # script NAME [PART]
  run "$*" "$build/skillopt" lua "$here/$1" "$instant" "$slow" "$long" ${2:+"$2"}
}
for file in "$here"/*.lua; do script "$(basename "$file")"; done
script rollout.lua slow

# profile PART: shares of the time by library, sampled.
profile() {
  command -v perf >/dev/null || return 0
  echo "... profile of a $1" >&2
  perf record -q -F 1000 -o "$out.perf" "$build/skillopt" lua "$here/rollout.lua" \
    "$instant" "$slow" "$long" "$1" >/dev/null 2>&1 || return 0
  echo "a $1 by library and function:"
  for by in dso symbol; do
    perf report -i "$out.perf" --stdio -q --sort $by 2>/dev/null | grep '%' | head -12
  done
}

uptime
awk '
  $1 == "figure" || $1 == "bare" {
    if (!($2 in unit)) { order[++count] = $2; unit[$2] = $4 }
    value[$1, $2] = $3
    next
  }
  { print }
  END {
    printf "%-32s %14s %14s %7s  %s\n", "name", "figure", "bare", "ratio", "unit"
    for (i = 1; i <= count; i++) {
      name = order[i]
      ours = value["figure", name]
      bare = value["bare", name]
      ratio = ours != "" && bare + 0 > 0 ? sprintf("%.2f", ours / bare) : ""
      printf "%-32s %14s %14s %7s  %s\n", name, ours, bare, ratio, unit[name]
    }
  }' "$out"
profile live
profile replay
[ "$failures" -eq 0 ]
