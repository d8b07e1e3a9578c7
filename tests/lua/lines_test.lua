--- rt.lines: files that grow by whole lines; rt.stdout: what the program says.
local lines = require "rt.lines"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local support = test.support "tests/lua/support.lua"

local function path_with(text)
  local path = support.folder() .. "/log.jsonl"
  if text then support.write(path, text) end
  return path
end

test("lines.open makes the file and file:add puts lines behind each other", function(t)
  local path = path_with()
  local f <close> = assert(lines.open(path))
  t.equal(f:add "one\n", true)
  t.equal(f:add "two\nthree\n", true)
  t.equal(test.read(path), "one\ntwo\nthree\n")
end)

test("a file that is there goes on at its end", function(t)
  local path = path_with "one\n"
  local f <close> = assert(lines.open(path))
  f:add "two\n"
  t.equal(test.read(path), "one\ntwo\n")
end)

test("truncate starts the file anew", function(t)
  local path = path_with "one\n"
  local f <close> = assert(lines.open(path, { truncate = true }))
  f:add "two\n"
  t.equal(test.read(path), "two\n")
end)

test("a torn last line is cut off before anything is added", function(t)
  local torn = test.read "tests/cases/d07_torn_tail.jsonl"
  local whole = torn:match "^(.*\n)[^\n]*$"
  t.ok(#whole < #torn)
  local path = path_with(torn)
  local f <close> = assert(lines.open(path))
  f:add '{"id": "q3"}\n'
  t.equal(test.read(path), whole .. '{"id": "q3"}\n')
end)

test("a file that is one torn line is empty afterwards", function(t)
  local path = path_with(("x"):rep(10000))
  local f <close> = assert(lines.open(path))
  f:add "a\n"
  t.equal(test.read(path), "a\n")
end)

test("a torn line longer than a block is cut at the last newline", function(t)
  local path = path_with("first\n" .. ("x"):rep(9000))
  local f <close> = assert(lines.open(path))
  t.equal({ test.read(path), f:add "" }, { "first\n", true })
end)

test("a text that does not end with a newline is refused", function(t)
  local f <close> = assert(lines.open(path_with()))
  t.raises(function() f:add "half" end, "must end with a newline")
end)

test("a closed file raises, closing twice is fine", function(t)
  local f = assert(lines.open(path_with()))
  f:close()
  f:close()
  t.raises(function() f:add "x\n" end, "the file is closed")
end)

test("a file that cannot be opened is an error of the world", function(t)
  local f, err = lines.open "build/tmp/no/such/folder/log"
  t.equal({ f, err.kind }, { nil, "io" })
end)

test("a full disk is an error of the world", function(t)
  local f <close> = assert(lines.open "/dev/full")
  local ok, err = f:add "x\n"
  t.equal({ ok, err.kind }, { nil, "io" })
end)

test("unknown options are refused", function(t)
  t.raises(function() lines.open(path_with(), { trunc = true }) end, "trunc")
end)

-------------------------------------------------------------------------- stdout

test("stdout.write and stdout.error go to their streams", function(t)
  local done = process.lua [[
    local stdout = require "rt.stdout"
    assert(stdout.write "out\0put\n" and stdout.error "complaint\n")
  ]]
  t.equal({ done.code, done.out, done.err }, { 0, "out\0put\n", "complaint\n" })
end)

test("stdout.is_terminal is false for a file, stdout.columns is 80 there", function(t)
  local done = process.lua [[
    local stdout = require "rt.stdout"
    stdout.write(("%s %d\n"):format(stdout.is_terminal(), stdout.columns()))
  ]]
  t.equal(done.out, "false 80\n")
end)

test("a closed pipe does not end the program", function(t)
  local path = support.folder() .. "/script.lua"
  support.write(path, [[
    local stdout = require "rt.stdout"
    local ok = true
    while ok do ok = stdout.write(("x"):rep(4096)) end
    stdout.error(tostring(ok))
  ]])
  local program = '"$(readlink /proc/$PPID/exe)"'
  local err = path .. ".err"
  os.execute(("%s lua %s 2>%s | head -c 1 >/dev/null"):format(program, path, err))
  t.equal(test.read(err), "false")
end)
