#!/bin/sh
# offline.sh BUILD - the shipped example in a network of its own that has only loopback: it is
# trained, and nobody tries to reach anything. The long form runs `make test` there; where
# bare roots can be made, fresh.sh does that.
set -u
build=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0
name="the example is trained with nothing but loopback"
user=
[ "$(id -u)" -eq 0 ] || user="--user --map-root-user"
reason=
command -v unshare >/dev/null || reason="no unshare here"
# shellcheck disable=SC2086 # options
[ -n "$reason" ] || unshare $user --net true 2>/dev/null ||
  reason="a network of its own is not permitted"
if [ -n "$reason" ]; then
  echo "skip - $name: $reason"
  exit 0
fi
verdict() { # verdict NAME CODE WHY
  if [ "$2" -eq 0 ]; then
    echo "ok - $1"
  else
    echo "FAIL - $1: $3"
    failures=1
  fi
}
# Run a command in a new network; then say how often something was sent or could not be: the
# second lines of these are figures since the network was made.
apart() {
  # shellcheck disable=SC2016,SC2086
  unshare $user --net sh -c 'ip link set lo up 2>/dev/null
    "$@"
    code=$?
    awk "/^(Ip|Tcp|Udp): [0-9]/ { if (\$1 == \"Ip:\") n += \$11 + \$13
      if (\$1 == \"Tcp:\") n += \$6; if (\$1 == \"Udp:\") n += \$5 } END { print n + 0 }" \
      /proc/net/snmp >"$0"
    exit $code' "$folder/sent" "$@"
}

apart "$build/skillopt" run configs/houserules/experiment.lua env.out_root="$folder/run" \
  >"$folder/out" 2>&1 && grep -q '^best skill: ' "$folder/out"
verdict "$name" $? "$(tail -n 3 "$folder/out")"
[ "$(cat "$folder/sent")" = 0 ]
verdict "training sends nothing to anybody" $? "$(cat "$folder/sent") packets or attempts"
apart "$build/skillopt" replay "$folder/run" --verify >"$folder/out" 2>&1
verdict "and is replayed there" $? "$(cat "$folder/out")"

OPENAI_COMPATIBLE_BASE_URL=http://192.0.2.1/v1 apart timeout 60 "$build/skillopt" run \
  configs/houserules/experiment.lua env.out_root="$folder/asks" model.backend=openai_compatible \
  model.retries=0 --yes >"$folder/out" 2>&1
[ $? -eq 4 ] && [ "$(cat "$folder/sent")" -gt 0 ]
verdict "an attempt to reach somebody would have been seen" $? "$(cat "$folder/sent"): $(tail -n 2 "$folder/out")"

name="make test passes with nothing but loopback"
if [ "${SKILLOPT_TEST_FORM:-short}" = short ]; then
  echo "skip - $name: long form only"
elif [ -z "$(sh tests/e2e/bare/possible.sh)" ]; then
  echo "skip - $name: fresh.sh does that, in a bare Debian"
elif ! command -v ip >/dev/null; then
  echo "skip - $name: no ip here"
else
  SKILLOPT_TEST_FORM='' MAKEFLAGS='' apart make MODE="${build#build/}" test >"$folder/out" 2>&1
  verdict "$name ($(tail -n 1 "$folder/out"))" $? "$(grep '^FAIL' "$folder/out")"
fi
exit $failures
