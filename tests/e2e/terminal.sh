#!/bin/sh
# terminal.sh BUILD - a run on a terminal (tmux): the live line, narrow and resized, Ctrl-C
# once and again, a dumb terminal, the C locale, no terminal at all.
set -u
bin=$(cd "$1" && pwd)/skillopt
if ! command -v tmux >/dev/null; then
  echo "skip - a run on a terminal: tmux is not installed"
  exit 0
fi
tmp=$(mktemp -d) || exit 1
unset TMUX NO_COLOR
failures=0
tm() { tmux -S "$tmp/socket" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null; rm -rf "$tmp"' EXIT
verdict() { # verdict CODE NAME DETAIL
  if [ "$1" -eq 0 ]; then
    echo "ok - $2"
  else
    echo "FAIL - $2: $3"
    failures=1
  fi
}
screen() { tm capture-pane -t "$1" -p | grep -v '^$'; }
see() { # see PANE PATTERN: wait until the screen has it, 10 s at most
  i=0
  while [ $i -lt 200 ]; do
    screen "$1" | grep -qE -- "$2" && return 0
    sleep 0.05
    i=$((i + 1))
  done
  return 1
}
open() { # open PANE COLUMNS LATENCY [VARIABLE=VALUE...]: start a run there
  pane=$1 columns=$2 latency=$3
  shift 3
  command="env $* $bin run configs/houserules/experiment.lua env.workers=4 train.num_epochs=1"
  command="$command model.sim_latency_seconds=$latency evaluation.sel_env_num=40"
  printf 'trap : INT\n%s env.out_root=%s\necho "code $?"\n' "$command" "$tmp/run_$pane" >"$tmp/$pane.sh"
  tm new-session -d -s "$pane" -x "$columns" -y 24 "PS1='> ' sh -i"
  tm send-keys -t "$pane" "clear; sh $tmp/$pane.sh" Enter
}

open wide 140 0.5
see wide 'selection_eval_baseline  \[#+-+\] [0-9]+/40  hard=0\.[0-9]+'
verdict $? "a live line shows bar and score" "$(screen wide)"
see wide 'calls/s  [0-9]+ calls, [0-9]+k? tokens  [0-9]+/64 in flight'
verdict $? "a live line shows rate, spend and limit" "$(screen wide)"
tm resize-window -t wide -x 46 -y 24
see wide '^selection_eval_baseline  [0-9]+/40  hard'
verdict $? "a live line fits a terminal that became narrow" "$(screen wide)"
[ "$(screen wide | grep -c '[0-9]/40')" -eq 1 ] && ! screen wide | grep -q 'calls/s\|in flight'
verdict $? "resizing leaves no piece of an older line" "$(screen wide)"
tm send-keys -t wide C-c
see wide 'code 130'
verdict $? "Ctrl-C stops in order with 130" "$(screen wide)"
screen wide | grep -q 'stopping; waiting' && screen wide | grep -q 'goes on from there'
verdict $? "it says what it waits for and how to go on" "$(screen wide)"
! screen wide | grep -qE 'in flight$|[0-9]/40|\^C'
verdict $? "the terminal is left clean" "$(screen wide)"
stored=$("$bin" show "$tmp/run_wide" >/dev/null 2>&1; echo $?)
[ "$stored" -eq 0 ]
verdict $? "the run that was stopped can be looked at" "$stored"

open twice 100 9
see twice '[1-9]/[0-9]+ in flight'
tm send-keys -t twice C-c
see twice 'stopping; waiting up to 30 s for'
verdict $? "Ctrl-C with calls in flight waits for them" "$(screen twice)"
see twice '^stopping'
verdict $? "the live line says that it is stopping" "$(screen twice)"
tm send-keys -t twice C-c
see twice 'code 130'
verdict $? "Ctrl-C again stops at once" "$(screen twice)"
! screen twice | grep -qE '^stopping|in flight$'
verdict $? "stopped at once, the terminal is left clean" "$(screen twice)"

open dumb 80 0.1 TERM=dumb LC_ALL=C
see dumb 'selection_eval_baseline. [0-9]+/40 hard=0'
verdict $? "a dumb terminal gets plain lines" "$(screen dumb)"
tm capture-pane -t dumb -pe | grep -q 'in flight'
[ $? -ne 0 ]
verdict $? "a dumb terminal gets no live line" "$(screen dumb)"
tm send-keys -t dumb C-c

open locale 100 0.02 LC_ALL=C LANG=C
see locale 'ACCEPT'
verdict $? "the C locale is no hindrance" "$(screen locale)"
tm capture-pane -t locale -pe | grep -q "$(printf '\033')\[32mACCEPT"
verdict $? "a decision has a colour" "$(tm capture-pane -t locale -pe | grep ACCEPT)"
open plain 100 0.02 NO_COLOR=1
see plain 'ACCEPT'
! tm capture-pane -t plain -pe | grep -q "$(printf '\033')\[32mACCEPT"
verdict $? "NO_COLOR takes the colour away" "$(tm capture-pane -t plain -pe | grep ACCEPT)"

TERM=xterm timeout 60 "$bin" run configs/houserules/experiment.lua train.num_epochs=1 \
  env.limit=8 evaluation.eval_test=false env.out_root="$tmp/file" >"$tmp/out" 2>&1
! grep -q "$(printf '\033')" "$tmp/out"
verdict $? "a file gets no escapes" "$(head -n 3 "$tmp/out")"
exit $failures
