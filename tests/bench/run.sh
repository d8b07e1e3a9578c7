#!/bin/sh
# run.sh BUILD - run the benchmarks against the stub and print one table.
#
# A benchmark prints lines `figure NAME VALUE UNIT` (ours) or `bare NAME VALUE UNIT` (the
# same work with the library alone); other lines are shown as they are. Figures and bare
# figures of one name stand in one row with their ratio. Programs are BUILD/bench/bench_*;
# scripts are tests/bench/*.lua, run by BUILD/skillopt lua with two arguments: the URL of a
# provider that answers at once and of one that answers after 100 ms. Each may take 20 s.
set -u
build=$1
here=$(dirname "$0")
. "$here/../stub/stub.sh"
out=$(mktemp) || exit 1
failures=0
pids=
finish() {
  for pid in $pids; do stub_stop "$pid"; done
  rm -f "$out"
}
trap finish EXIT

run() { # run NAME COMMAND...
  name=$1
  shift
  echo "... $name" >&2
  timeout 20 "$@" >>"$out"
  code=$?
  [ $code -eq 0 ] && return
  failures=$((failures + 1))
  echo "$name: $([ $code -eq 124 ] && echo 'stopped after 20 s' || echo "exit code $code")" >&2
}

stub_start "$build" --fast || exit 1
instant=$stub_url
pids=$stub_pid
stub_start "$build" --fast --latency-ms 100 || exit 1
slow=$stub_url
pids="$pids $stub_pid"

path=/v1/chat/completions
run http.instant "$build/bench/bench_http" "$instant$path" 60000 64 http.instant
run http.100ms "$build/bench/bench_http" "$slow$path" 10000 256 http.100ms
for program in "$build"/bench/bench_*; do
  [ "$program" = "$build/bench/bench_http" ] || run "$(basename "$program")" "$program"
done
for script in "$here"/*.lua; do
  [ -f "$script" ] && run "$(basename "$script")" "$build/skillopt" lua "$script" "$instant" "$slow"
done

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
[ "$failures" -eq 0 ]
