--- Finding commands, and what their ends are called.
local cli = require "skillopt.cli"
local commands = require "skillopt.commands"
local exits = require "skillopt.exits"
local file = require "rt.file"
local loader = require "skillopt.loader"
local stdout = require "rt.stdout"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"

test("every kind of error has one exit code of the table", function(t)
  local want = { usage = 2, config = 2, data = 3, auth = 4, network = 4, timeout = 4,
    rate_limit = 4, server = 4, bad_request = 4, refused = 4, filtered = 4, too_long = 4,
    parse = 4, truncated = 4, process = 4, sandbox = 4, budget = 5, io = 6, limit = 70, bug = 70,
    cancelled = 130 }
  for kind, code in pairs(want) do t.equal(exits.of { kind = kind }, code, kind) end
  t.equal(exits.of { kind = "a kind from elsewhere" }, 70)
end)

test("too little measured has a code of its own, whatever the reason was", function(t)
  t.equal(exits.of { kind = "network", too_little = true }, 7)
end)

test("the page names every code", function(t)
  local page = exits.page()
  for _, row in ipairs(exits.list) do
    t.ok(page:find(string.format("%5d  %s", row.code, row.words), 1, true), row.words)
  end
end)

test("docs/exit-codes.md says what the table says", function(t)
  local text = test.read "docs/exit-codes.md"
  for _, row in ipairs(exits.list) do
    t.ok(text:find(string.format("| %d | %s", row.code, row.words), 1, true), row.words)
  end
end)

test("every file of lua/commands is found, with a line about it", function(t)
  local seen = {}
  for _, name in ipairs(commands.names()) do
    seen[name] = true
    t.ok(#commands.summary(name) > 5, name)
  end
  for _, entry in ipairs(assert(file.list(loader.home .. "/lua/commands"))) do
    t.ok(seen[entry:match "^(.*)%.lua$"], entry)
  end
end)

test("a declaration has a command, and help of its own", function(t)
  for name, command in pairs(cli.commands) do
    t.equal(command.name, name)
    local help = cli.help(name)
    t.ok(help:find("usage: skillopt " .. name, 1, true), name)
    for _, flag in ipairs(command.flags) do
      t.ok(help:find("--" .. flag.name:gsub("_", "-"), 1, true), flag.name)
    end
  end
end)

test("an unknown command is told the nearest name", function(t)
  t.equal(commands.unknown "shwo".hint, "did you mean `skillopt show`?")
  t.equal(commands.unknown "xyzxyzxyz".hint, "`skillopt help` lists the commands")
  t.equal(commands.load "../commands/run", nil)
end)

test("words behind --version and --help are not lost", function(t)
  local done = process.run { "--version", "x" }
  t.equal({ done.code, done.err:match "[^\n]+" },
    { 2, 'skillopt: usage: --version: unexpected argument "x"' })
  t.equal(process.run { "--help", "run" }.out, process.run({ "help", "run" }).out)
  t.equal(process.run { "--help", "nope" }.code, 2)
  t.equal(process.run { "config", "--schema", "x.yaml" }.code, 2)
end)

test("a result that does not fit on the disk is no success, whatever the command", function(t)
  for _, args in ipairs { { "list", "envs" }, { "list", "backends", "--json" }, { "--version" },
    { "help" }, { "help", "run" } } do
    local done = process.run(args, { after = ">/dev/full" })
    t.equal(done.code, 6)
    t.ok(done.err:find("the standard output cannot be written: No space left", 1, true), done.err)
  end
end)

test("an output that is there has no fault", function(t)
  stdout.write ""
  t.equal(stdout.fault(), nil)
end)

test("a reader that has gone is no failure", function(t)
  t.equal(process.run({ "list", "envs" }, { after = ">&-" }).code, 0)
end)

test("a script of `skillopt lua` that raises ends with 2 and its own lines", function(t)
  local function fails(text, code, ...)
    local done = process.lua(text)
    t.equal(done.code, code, text)
    for _, pattern in ipairs { ... } do t.equal(done.err:find(pattern) ~= nil, true, done.err) end
    return done
  end
  fails("local function f() error 'boom' end\nf()", 2,
    "^skillopt: config: [^\n]*/script%.lua:1: boom\nstack traceback:\n",
    "/script%.lua:2: in main chunk")
  fails("error { kind = 'data', message = 'no items' }", 3, "^skillopt: data: no items\n$")
  fails("error {}", 2, "raised a table without a message")
  fails("error { kind = 'mine', message = 'my own words' }", 2, "config: my own words\n")
  fails("error(setmetatable({}, { __tostring = function() return 'so it says' end }))", 2,
    "config: so it says\n")
  fails("error(setmetatable({}, { __tostring = function() error 'no' end }))", 2,
    "without a message")
  local done = fails("require('skillopt.task').map({ 1 }, function()\n error 'boom' end)", 2,
    "/script%.lua:2: boom\n")
  t.equal({ done.err:find("commands/lua.lua", 1, true) }, {})
  t.equal({ process.lua("return 5").code, process.lua("return").code }, { 5, 0 })
end)
