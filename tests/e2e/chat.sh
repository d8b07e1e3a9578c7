#!/bin/sh
# chat.sh BUILD - one message over HTTP: the reply, the roles, refused logins with their key.
set -u
build=$1
bin=$build/skillopt
. tests/stub/stub.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
. tests/say.sh
chat() { # chat [ARGS...]: against the last stub; output in $tmp/out and $tmp/err
  OPENAI_COMPATIBLE_BASE_URL=$stub_url/v1 timeout 60 "$bin" chat "$@" >"$tmp/out" 2>"$tmp/err"
}
unset OPENAI_COMPATIBLE_API_KEY TARGET_OPENAI_COMPATIBLE_API_KEY
key=key-of-sixteen-and-more

stub_start "$build" --script tests/stub/scripts/echo.lua --log "$tmp/log"
chat 'stub: text = "42", usage = {prompt_tokens = 9, completion_tokens = 1, total_tokens = 10}'
is $? 0 "a message is answered"
is "$(cut -c 1-21 "$tmp/out")" 'reply = 42 | usage = ' "with the reply and what it used"
has "$tmp/out" '"prompt_tokens": 9, "completion_tokens": 1' "as the server counts it"
chat --role optimizer --optimizer_model opt-x --system 'Be brief.' Hello
is $? 0 "the optimizer is asked"
has "$tmp/log" '"model": "opt-x"' "with its own model"
chat 'stub: status = 503, body = "busy"' model.retries=0
is $? 4 "a server that fails ends with exit code 4"
chat 'stub: text = ""'
is $? 4 "an empty reply is no reply"
has "$tmp/err" "the reply was empty" "and is said"
cat >"$tmp/ask.lua" <<LUA
local skillopt = require "skillopt"
local task = require "skillopt.task"
local function ask(n)
  return assert(skillopt.chat { user = "number " .. n, settings = {
    ["model.openai_compatible_base_url"] = "$stub_url/v1" } }).text
end
print(table.concat(task.map({ 1, 2, 3 }, ask), ", "))
LUA
"$bin" lua "$tmp/ask.lua" >"$tmp/out" 2>"$tmp/err"
is "$(cat "$tmp/err")" "number 1, number 2, number 3" "a script asks, several at once"
stub_stop

stub_start "$build" --script tests/stub/scripts/echo.lua --key $key
chat Hello
is $? 4 "a refused login ends with exit code 4"
has "$tmp/err" "no key was sent: set OPENAI_COMPATIBLE_API_KEY" "and says which key is missing"
OPENAI_COMPATIBLE_API_KEY=another-key-of-sixteen chat Hello
is $? 4 "a wrong key ends with exit code 4"
has "$tmp/err" "the key sent is that of environment OPENAI_COMPATIBLE_API_KEY" "and says whose it is"
if grep -q another-key "$tmp/err"; then echo "FAIL - no key is shown: $(cat "$tmp/err")"; else echo "ok - no key is shown"; fi
TARGET_OPENAI_COMPATIBLE_API_KEY=$key chat Hello
is $? 0 "the target's own key is taken"
stub_stop
