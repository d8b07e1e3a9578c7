# stub.sh - sourced by shell tests: start and stop the stub.
#
#   stub_start BUILD [OPTIONS...]   waits until it listens; sets stub_url and stub_pid
#   stub_stop [PID]                 ends the last one started, or that one
#
# A stub also ends by itself when the shell that started it ends.

stub_start() {
  stub_build=$1
  shift
  stub_folder=$(mktemp -d) || return 1
  mkfifo "$stub_folder/port" || return 1
  "$stub_build/stub" "$@" >"$stub_folder/port" &
  stub_pid=$!
  read -r stub_word stub_port <"$stub_folder/port"
  rm -r "$stub_folder"
  stub_url=http://127.0.0.1:$stub_port
  [ "$stub_word" = port ]
}

stub_stop() {
  kill "${1:-$stub_pid}" && wait "${1:-$stub_pid}"
}
