--- Processes and their workspaces: answers, and files that are the same whether a process
--- has just run or its answer comes from the journal.
local core = require "rt.task"
local ctx_of = require "skillopt.ctx"
local digest = require "rt.digest"
local effect = require "skillopt.effect"
local file = require "rt.file"
local journal = require "rt.journal"
local process = require "rt.process"
local task = require "skillopt.task"
local test = require "skillopt.test"
local tree = require "rt.tree"
local support = test.support "tests/lua/support.lua"

local ctx = ctx_of.new()

--- Run `f(ctx)` as an item of a run with this journal; asked again it is the same item.
local function item(options, f)
  local effects = effect.new { journal = options.journal, parents = { options.parent },
    scrub = options.scrub, is_replay = options.is_replay }
  local place = { kind = "rollout", item = {}, run = {
    effects = effects, log = function(event) options.logged = event end,
    config = { get = function() return options.sandbox or "none" end },
  } }
  local out = {}
  core.spawn("item", out, 0, function()
    task.set_place(place)
    return f(ctx)
  end)
  core.join(0)
  return table.unpack(out, 1, out.n)
end

local function open() return assert(journal.open()) end

--- A shell script in the workspace; its answer.
local function sh(workspace, script, options)
  local opt = { workspace = workspace }
  for name, value in pairs(options or {}) do opt[name] = value end
  return ctx:run({ "sh", "-c", script }, opt)
end

--- What `f(ctx)` raises.
local function raised(options, f)
  return item(options, function()
    local ok, err = pcall(f)
    return not ok and err or nil
  end)
end

------------------------------------------------------------------------ answers

test("a process answers with its code and what it wrote", function(t)
  local done = item({ journal = open() }, function()
    return ctx:run({ "sh", "-c", "cat; echo oh >&2; exit 3" }, { stdin = "given" })
  end)
  t.equal(done, { state = "exit", code = 3, stdout = "given", stderr = "oh\n" })
end)

test("a signal is an answer", function(t)
  local done = item({ journal = open() }, function() return sh(nil, "kill -9 $$") end)
  t.equal({ done.state, done.code }, { "signal", 9 })
end)

test("an endless process is an answer and leaves what it has written", function(t)
  local state, code, text = item({ journal = open() }, function()
    local w = ctx:workspace()
    local done = sh(w, "echo early >f; sleep 300", { timeout_s = 0.5 })
    return done.state, done.code, w:read "f"
  end)
  t.equal({ state, code, text }, { "timeout", nil, "early\n" })
end)

test("endless output is an answer", function(t)
  local done = item({ journal = open() }, function() return sh(nil, "yes") end)
  t.equal({ done.state, #done.stdout }, { "output", 1 << 20 })
end)

test("a tree that grows too large is an answer, and stays as it was", function(t)
  local state, list, after = item({ journal = open() }, function()
    local w = ctx:workspace()
    w:write("kept", "old")
    local done = sh(w, "echo new >kept; truncate -s 40M a; truncate -s 40M b")
    return done.state, w:list(), sh(w, "cat kept; ls").stdout
  end)
  t.equal({ state, list, after }, { "tree", { "kept" }, "oldkept\n" })
end)

test("the place of the workspace is not told", function(t)
  local done = item({ journal = open() }, function()
    return sh(nil, "pwd; echo $HOME $TMPDIR; pwd >&2; touch $TMPDIR/x; ls")
  end)
  t.equal(done.stdout, "/workspace\n/workspace /tmp\n")
  t.equal(done.stderr, "/workspace\n")
end)

test("output that is no text is made text", function(t)
  local done = item({ journal = open() }, function() return sh(nil, "printf 'a\\377b'") end)
  t.equal(done.stdout, "a\u{FFFD}b")
end)

test("the environment is fixed but for what is given", function(t)
  local done = item({ journal = open() }, function()
    return ctx:run({ "env" }, { env = { LANG = "C", PLACE = "/workspace/x" } })
  end)
  t.equal(done.stdout, "HOME=/workspace\nLANG=C\nPATH=/usr/local/bin:/usr/bin:/bin\n"
    .. "PLACE=/workspace/x\nPYTHONDONTWRITEBYTECODE=1\nPYTHONHASHSEED=0\nTMPDIR=/tmp\nTZ=UTC\n")
end)

test("nothing a process started outlives its answer", function(t)
  local first, second = item({ journal = open() }, function()
    local w = ctx:workspace()
    sh(w, "setsid sh -c 'while :; do date +%N >stray; sleep 0.01; done' & "
      .. "while [ ! -e stray ]; do :; done")
    return sh(w, "cat stray").stdout, sh(w, "sleep 0.1; cat stray").stdout
  end)
  t.equal(first, second)
end)

test("a program that is not there is weather", function(t)
  local err = raised({ journal = open() }, function() ctx:run { "no-such-program-here" } end)
  t.equal(err.kind, "process")
  t.ok(task.is_uncatchable(err))
end)

----------------------------------------------------------------------- refusals

test("without sandbox: none a process is refused with words", function(t)
  local err = raised({ journal = open(), sandbox = "auto" }, function() ctx:run { "true" } end)
  t.equal({ err.kind, err.fatal }, { "config", true })
  t.ok(err.hint:find("sandbox: none", 1, true))
end)

test("arguments that are no text come back as an error of usage", function(t)
  for _, word in ipairs { "a\0b", "\xff", ("x"):rep(200000) } do
    t.equal(raised({ journal = open() }, function() ctx:run { "echo", word } end).kind, "usage")
  end
end)

test("a wrong call raises", function(t)
  local function text(f) return tostring(raised({ journal = open() }, f)) end
  t.ok(text(function() ctx:run {} end):find "argv is a list")
  t.ok(text(function() ctx:run("ls") end):find "argv is a list")
  t.ok(text(function() ctx:run({ "ls" }, { time = 1 }) end):find "unknown option 'time'")
  t.ok(text(function() ctx:run({ "ls" }, { timeout_s = 0 }) end):find "timeout_s")
  t.ok(text(function() ctx:run({ "ls" }, { stdin = 1 }) end):find "stdin must be text")
  t.ok(text(function() ctx:run({ "ls" }, { env = { ["A=B"] = "x" } }) end):find "env is a table")
  t.ok(text(function() ctx:run({ "ls" }, { workspace = {} }) end):find "workspace is what")
end)

test("a workspace belongs to its task", function(t)
  local err = item({ journal = open() }, function()
    local w = ctx:workspace()
    local _, why = pcall(ctx.scope, ctx, "below", function() return w:read "x" end)
    return why
  end)
  t.ok(tostring(err):find "belongs to the task that made it")
end)

test("paths lead nowhere but into the workspace", function(t)
  for _, path in ipairs { "../x", "/x", "a/../x", "", ".", "a//b" } do
    local err = raised({ journal = open() }, function() ctx:workspace():write(path, "x") end)
    t.equal(err and err.kind, "usage")
    t.equal(item({ journal = open() }, function() return ctx:workspace():read(path) end), nil)
  end
end)

test("a file is no folder and a folder no file", function(t)
  local err = raised({ journal = open() }, function()
    local w = ctx:workspace()
    w:write("a", "x")
    w:write("a/b", "x")
  end)
  t.equal({ err.kind, err.message }, { "usage", "'a' is a file, not a folder" })
  err = raised({ journal = open() }, function()
    local w = ctx:workspace()
    w:write("a/b", "x")
    w:write("a", "x")
  end)
  t.equal({ err.kind, err.message }, { "usage", "'a' is a folder" })
end)

test("a workspace has its limits for the program as well", function(t)
  local err = raised({ journal = open() }, function()
    local w = ctx:workspace()
    for i = 1, 10001 do w:write("f" .. i, "") end
  end)
  t.equal(err.kind, "limit")
  err = raised({ journal = open() }, function()
    local w = ctx:workspace()
    w:write("a", ("x"):rep(40 << 20))
    w:write("a", ("y"):rep(40 << 20)) -- in its place
    w:write("b", ("x"):rep(40 << 20))
  end)
  t.equal(err.kind, "limit")
end)

-------------------------------------------------------------------------- files

test("a process sees what was written, the program what the process made", function(t)
  local seen, list, made, gone = item({ journal = open() }, function()
    local w = ctx:workspace()
    w:write("src/a.txt", "one")
    w:write("old", "x")
    local done = sh(w, "cat src/a.txt; rm old; mkdir out; echo two >out/b; ln -s out/b link; "
      .. "ln -s .. out/up")
    return done.stdout, w:list(), w:read "link" .. w:read "out/up/src/a.txt", w:read "old"
  end)
  t.equal({ seen, list, made, gone },
    { "one", { "link", "out/b", "out/up", "src/a.txt" }, "two\none", nil })
end)

test("links that lead outside are removed and noted", function(t)
  local options = { journal = open() }
  local list = item(options, function()
    local w = ctx:workspace()
    sh(w, "ln -s /etc/passwd p; ln -s loop loop; echo x >f")
    return { w:list(), w:read "loop" }
  end)
  t.equal(list, { { "f", "loop" } })
  t.equal(options.logged.message, "p: a link that leads outside")
end)

test("written bytes take the place of a link", function(t)
  local text, other = item({ journal = open() }, function()
    local w = ctx:workspace()
    sh(w, "echo there >f; ln -s f l")
    w:write("l", "here")
    sh(w, "echo more >>l")
    return w:read "l", w:read "f"
  end)
  t.equal({ text, other }, { "heremore\n", "there\n" })
end)

------------------------------------------------------------- replay and rebuild

--- A script that leaves a line in a file outside whenever it runs for real.
local function counted(folder, script)
  local path = file.absolute(folder) .. "/ran"
  return "echo . >>" .. path .. "; " .. script, function()
    return select(2, (file.read(path) or ""):gsub("\n", ""))
  end
end

test("an answer on file is taken without running, its files are there to read", function(t)
  local j = open()
  local script, count = counted(support.folder(), "echo hello >f; echo done")
  local function program()
    local w = ctx:workspace()
    local done = sh(w, script)
    return { done, w:read "f", w:list() }
  end
  local first = item({ journal = j }, program)
  t.equal(item({ journal = j, is_replay = true }, program), first)
  t.equal({ first[2], count() }, { "hello\n", 1 })
end)

test("other files, input, limits or environment are another request", function(t)
  local j = open()
  local script, count = counted(support.folder(), "true")
  local function program(text, options)
    return function()
      local w = ctx:workspace()
      w:write("f", text)
      return sh(w, script, options)
    end
  end
  item({ journal = j }, program "a")
  item({ journal = j }, program "a")
  t.equal(count(), 1)
  item({ journal = j }, program "b")
  item({ journal = j }, program("a", { stdin = "x" }))
  item({ journal = j }, program("a", { timeout_s = 5 }))
  item({ journal = j }, program("a", { env = { A = "1" } }))
  t.equal(count(), 5)
end)

local STEPS <const> = {
  "mkdir -p d/e; echo one >d/e/f; chmod 750 d/e; echo run >d/tool; chmod 755 d/tool; "
    .. "ln -s d/e/f l; ln d/tool twin; mkfifo pipe; touch gone; mkdir kind; touch kind/x",
  "rm gone; rm -r kind; echo file >kind; echo two >>d/e/f; rm l; mkdir l",
  "ls -lR --time-style=+%s; cat d/e/f kind twin; id -u; stat -c '%a %h %Y %n' . d d/e d/tool twin",
}

--- Do the steps; the answers and all files in the end.
local function steps(count)
  return function()
    local w = ctx:workspace()
    w:write("mine", "m")
    local out = {}
    for i = 1, count do
      local done = sh(w, STEPS[i])
      out[i] = { done.state, done.code, done.stdout:gsub("total %d+", "total"), done.stderr }
      if i == 1 then w:write("d/mine", "between") end
    end
    for _, path in ipairs(w:list()) do out[#out + 1] = path .. ": " .. w:read(path) end
    return out
  end
end

test("a rebuilt workspace is the one that was left", function(t)
  local whole = item({ journal = open() }, steps(3))
  t.equal(whole[2][2], 0)
  t.equal({ table.unpack(whole, 4) }, { "d/e/f: one\ntwo\n", "d/mine: between", "d/tool: run\n",
    "kind: file\n", "mine: m", "twin: run\n" })
  for stop = 1, 2 do
    local j = open()
    item({ journal = j }, steps(stop))
    t.equal(item({ journal = j }, steps(3)), whole)
    t.equal(item({ journal = j, is_replay = true }, steps(3)), whole)
  end
end)

test("a fork stands alone with the files of its parent's answers", function(t)
  local parent, j = open(), open()
  local whole = item({ journal = parent }, steps(3))
  item({ journal = j, parent = parent }, steps(2))
  parent:close()
  t.equal(item({ journal = j }, steps(3)), whole)
end)

test("a run on disk that is opened again goes on with the same files", function(t)
  local whole = item({ journal = open() }, steps(3))
  local path = support.folder() .. "/j.db"
  local j = assert(journal.open(path))
  item({ journal = j }, steps(2))
  j:close()
  j = assert(journal.open(path))
  t.equal(item({ journal = j }, steps(3)), whole)
  j:close()
end)

test("a secret in a file or in the output is masked before anybody sees it", function(t)
  local secret = "sixteen-letters-secret"
  local function scrub(s) return (s:gsub("sixteen%-letters%-secret", "***")) end
  local function program(count)
    return function()
      local w = ctx:workspace()
      local script = "printf %s sixteen-letters-; echo secret; printf %s-secret sixteen-letters >f"
      local out = { sh(w, script).stdout }
      if count > 1 then out[2] = sh(w, "cat f; wc -c <f").stdout end
      return { out, w:read "f" }
    end
  end
  local j = open()
  local whole = item({ journal = open(), scrub = scrub }, program(2))
  t.equal(whole, { { "***\n", "***3\n" }, "***" })
  item({ journal = j, scrub = scrub }, program(1))
  t.equal(item({ journal = j, scrub = scrub }, program(2)), whole)
  for n = 1, j:last() do t.equal(j:row(n).data:find(secret, 1, true), nil) end
end)

test("the folders of an item go with it", function(t)
  local base = assert(process.scratch())
  local before = #file.list(base)
  local workspace = require "skillopt.workspace"
  item({ journal = open() }, function()
    local w = ctx:workspace()
    sh(w, "touch f")
    t.equal(#file.list(base), before + 1)
    workspace.close(task.place().item)
    t.equal(#file.list(base), before)
    t.equal(sh(w, "ls").stdout, "f\n")
    workspace.close(task.place().item)
    sh(nil, "touch f")
    t.equal(#file.list(base), before)
  end)
end)

------------------------------------------------------------------- the bindings

test("process.run refuses what is no request", function(t)
  local good = { argv = { "true" }, env = { "PATH=/bin" }, folder = "." }
  local function with(name, value)
    local request = {}
    for k, v in pairs(good) do request[k] = v end
    request[name] = value
    return function() process.run(request) end
  end
  t.raises(with("argv", {}), "argv must name a program")
  t.raises(with("argv", "true"), "must be a list of texts")
  t.raises(with("argv", { "a\0" }), "without zero bytes")
  t.raises(with("env", { 1 }), "must be a list of texts")
  t.raises(with("shell", true), "shell")
  t.raises(with("timeout_s", 0), "timeout_s")
end)

test("process.run ends its child when the task is cancelled", function(t)
  local folder = file.absolute(support.folder())
  local ok = pcall(function()
    core.spawn("a", {}, 1, function()
      while not (file.read(folder .. "/pid") or ""):find "\n" do require("rt.flow").sleep(0.01) end
      error "enough"
    end)
    core.spawn("b", {}, 2, function()
      process.run { argv = { "sh", "-c", "echo $$ >pid; exec sleep 300" }, folder = folder,
        env = { "PATH=/usr/bin:/bin" } }
    end)
    core.join(1)
  end)
  t.equal(ok, false)
  local pid = test.read(folder .. "/pid"):match "%d+"
  t.equal(file.kind("/proc/" .. pid .. "/fd"), "none")
end)

test("process.scratch is one private folder", function(t)
  local path = assert(process.scratch())
  t.equal(process.scratch(), path)
  t.equal(file.kind(path), "folder")
end)

test("tree.put makes what tree.scan finds", function(t)
  local folder = support.folder()
  assert(tree.put(folder, { path = "d", kind = "folder", mode = 493 }))
  assert(tree.put(folder, { path = "d/f", kind = "file", mode = 416 }, "text"))
  assert(tree.put(folder, { path = "d/l", kind = "link", target = "f" }))
  local entries, notes = tree.scan(folder)
  t.equal(entries, {
    { path = "d", kind = "folder", mode = 493 },
    { path = "d/f", kind = "file", mode = 416, size = 4, digest = digest.sha256 "text" },
    { path = "d/l", kind = "link", target = "f" },
  })
  t.equal(notes, {})
  local _, err = tree.scan(folder, { entries = 2 })
  t.equal(err.kind, "limit")
  t.raises(function() tree.put(folder, { path = "../x", kind = "file" }, "") end, "leads outside")
  local outside = { path = "x", kind = "link", target = "/etc" }
  t.raises(function() tree.put(folder, outside) end, "leads outside")
  t.equal({ tree.is_path "a/b", tree.is_path "a/../b" }, { true, false })
end)
