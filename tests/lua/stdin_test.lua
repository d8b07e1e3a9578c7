--- Lines from the standard input, in a process of its own.
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"

local PROGRAM <const> = [[
local stdin, stdout = require "rt.stdin", require "rt.stdout"
local line, err
repeat
  line, err = stdin.line()
  if line then stdout.write("<" .. line .. ">") end
until not line
stdout.write(err and err.kind or stdin.is_terminal() and "terminal" or "end")
]]

local function read_from(command)
  return process.lua(PROGRAM, { before = command .. " |" }).out
end

test("stdin.line gives one line after the other, the last one whole or not", function(t)
  t.equal(read_from "printf 'one\\n\\ntwo words \\nlast'", "<one><><two words ><last>end")
  t.equal(read_from "printf ''", "end")
end)

test("stdin.line waits for the rest of a line that comes in pieces", function(t)
  t.equal(read_from "(printf on; sleep 0.05; printf 'e\\ntwo\\n')", "<one><two>end")
end)

test("stdin.line has a limit", function(t)
  t.equal(read_from "head -c 70000 /dev/zero", "limit")
end)

test("an interrupt that comes before stdin.line waits is not lost", function(t)
  local done = process.lua([[
    os.execute("{ sleep 0.1; kill -INT $PPID; } >/dev/null 2>&1 &")
    local start = os.clock()
    while os.clock() - start < 0.5 do end -- the signal comes here
    local _, err = require("rt.stdin").line()
    require("rt.stdout").write(err and err.kind or "end")
  ]], { before = "sleep 5 |" })
  t.equal(done.out, "cancelled")
end)

test("stdin.is_terminal is false for a pipe", function(t)
  t.ok(read_from("printf ''"):find "^end")
end)
