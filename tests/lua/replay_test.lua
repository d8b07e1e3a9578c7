--- A run computed again from its journal: equal, or the first difference by name.
local file = require "rt.file"
local journal = require "rt.journal"
local json = require "rt.json"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local support = test.support "tests/lua/support.lua"

--- A finished run of the driven program, or of one that was changed before.
local function finished(change, options)
  local folder = process.program()
  if change then change(folder) end
  local r = process.drive(folder, options)
  if not r.ok and not (options and options.may_stop) then error(r.err.message, 2) end
  return folder .. "/outputs/" .. folder:match "[^/]*$" .. "/0001", folder
end

local function replay(path, ...)
  return process.run { "replay", path, ... }
end

local function replace(path, old, new)
  local text = test.read(path)
  local first, last = text:find(old, 1, true)
  assert(first, old)
  support.write(path, text:sub(1, first - 1) .. new .. text:sub(last + 1))
end

--- Write the journal of a run anew, with rows as `change(row)` leaves them; nil drops one.
local function rewrite(path, change)
  local from = assert(journal.open(path .. "/journal.db", { read_only = true }))
  local rows = {}
  for n = 1, from:last() do rows[n] = assert(from:row(n)) end
  from:close()
  for _, name in ipairs { "journal.db", "journal.db-wal", "journal.db-shm", "journal.head" } do
    assert(file.remove(path .. "/" .. name))
  end
  local to = assert(journal.open(path .. "/journal.db"))
  local count = 0
  for _, row in ipairs(rows) do
    local new = change(row)
    if new then
      assert(to:put(new.kind, new.slot, new.key, new.data))
      count = count + 1
    end
  end
  to:close()
  return count
end

--- The first row of the kind in that slot, changed by `f`.
local function first_row(kind, slot, f)
  local is_done = false
  return function(row)
    if not is_done and row.kind == kind and row.slot == slot then
      is_done = true
      f(row)
    end
    return row
  end
end

-------------------------------------------------------------------------- equal

test("a finished run is equal to its replay", function(t)
  local done = replay((finished()), "--verify")
  t.equal(done.code, 0, done.err)
  t.ok(done.out:find "^equal: 27 answers, %d+ decisions\n$", done.out)
end)

test("a replay on another machine needs nothing but the run's folder", function(t)
  local path, folder = finished()
  local there = support.folder() .. "/copied"
  os.execute(("cp -r %s %s && rm -r %s"):format(path, there, folder))
  local done = replay(there, "--verify")
  t.equal({ done.code, done.out:sub(1, 6) }, { 0, "equal:" }, done.err)
end)

test("a replay takes the configuration's files from the journal", function(t)
  local path, folder = finished(function(folder)
    support.write(folder .. "/own.yaml", "train:\n  seed: 9\n")
    replace(folder .. "/experiment.lua", "train = {", "base = \"own.yaml\",\n  train = {")
    replace(folder .. "/experiment.lua", ", seed = 3", "")
  end)
  local there = support.folder() .. "/copied"
  os.execute(("cp -r %s %s && rm -r %s"):format(path, there, folder))
  local done = replay(there, "--verify")
  t.equal({ done.code, done.out:sub(1, 6) }, { 0, "equal:" }, done.err)
end)

test("a file with facts of the machine is compared but for these; one may not be gone", function(t)
  local path = finished()
  local function is_noticed(name, f)
    local text = test.read(path .. "/" .. name)
    local changed = f(text)
    t.ok(changed ~= text, name)
    os.remove(path .. "/" .. name)
    if changed then support.write(path .. "/" .. name, changed) end
    local done = replay(path, "--verify")
    support.write(path .. "/" .. name, text)
    return done.code == 6 and done.err:find(name, 1, true) ~= nil
  end
  local function with(pattern, new)
    return function(text) return (text:gsub(pattern, new, 1)) end
  end
  for name, change in pairs { ["summary.json"] = with('("best_selection_hard": )[%d.]+', "%10.99"),
    ["history.json"] = with('("action": ")', "%1x"), ["config.json"] = with('("seed": )', "%18"),
    ["run.json"] = with('("train%.seed": {[^}]-"value": )', "%18"),
    ["steps/step_0001/step_record.json"] = with('("action": ")', "%1x") } do
    t.equal({ name, is_noticed(name, change) }, { name, true })
    t.equal({ name, is_noticed(name, function() end) }, { name, true })
  end
  t.equal(is_noticed("best_skill.md", function() end), true)
  t.equal(is_noticed("run.json", with('("origin": ")', "%1x")), false)
  t.equal(is_noticed("history.json", with('("step_s": )', "%18")), false)
  t.equal(replay(path, "--verify").code, 0)
end)

test("a replay without --verify writes the derived files anew", function(t)
  local path = finished()
  local want = test.read(path .. "/test_eval/results.jsonl")
  assert(file.remove("test_eval", { root = path }))
  support.write(path .. "/best_skill.md", "damaged")
  local done = replay(path)
  t.equal(done.code, 0, done.err)
  t.equal(test.read(path .. "/test_eval/results.jsonl"), want)
  t.ok(test.read(path .. "/best_skill.md"):find("# Boxes", 1, true))
end)

test("a run killed while its inputs were stored can be replayed once it went on", function(t)
  local path, folder = finished()
  local is_behind = false
  rewrite(path, function(row)
    local keep = not is_behind
    is_behind = is_behind or row.kind == "open" and row.key == "identity"
    return keep and row or nil
  end)
  t.equal(process.drive(folder).ok, true)
  local done = replay(path, "--verify")
  t.equal({ done.code, done.out:sub(1, 6) }, { 0, "equal:" }, done.err)
end)

test("a run that was stopped is equal as far as it goes", function(t)
  local path = finished(nil, { down_from = 9, args = { "env.workers=1" }, may_stop = true })
  local done = replay(path, "--verify")
  t.equal({ done.code, done.out:sub(1, 32) }, { 0, "equal as far as the journal goes" }, done.err)
end)

test("a replay changes nothing in the folder", function(t)
  local path = finished()
  local before = assert(journal.open(path .. "/journal.db", { read_only = true }))
  local chain = before:chain()
  before:close()
  replay(path, "--verify")
  replay(path, "--shuffle", "1")
  local after = assert(journal.open(path .. "/journal.db", { read_only = true }))
  t.equal(after:chain(), chain)
  after:close()
end)

test("a folder without a run is refused", function(t)
  local done = replay("tests", "--verify")
  t.equal(done.code, 6)
  t.ok(done.err:find("holds no run", 1, true), done.err)
end)

--------------------------------------------------------------------- differences

test("a changed decision is found by its slot and name", function(t)
  local path = finished()
  rewrite(path, first_row("decision", "steps/step_0001",
    function(row) row.data = ("0"):rep(64) end))
  local done = replay(path, "--verify")
  t.equal(done.code, 6)
  t.ok(done.err:find("steps/step_0001/", 1, true) and done.err:find("on record", 1, true), done.err)
end)

test("a changed answer is found by the decision it led to", function(t)
  local path = finished()
  rewrite(path, first_row("effect", "steps/step_0001/patches/minibatch_fail_000", function(row)
    local answer = json.decode(row.data)
    answer.value.text = answer.value.text:gsub("Know kind", "Guess kind")
    row.data = json.canonical(answer)
  end))
  local done = replay(path, "--verify")
  t.equal(done.code, 6)
  t.ok(done.err:find("step_0001", 1, true), done.err)
end)

test("an answer changed in place breaks the chain", function(t)
  local path = finished()
  if not os.execute "command -v sqlite3 >/dev/null" then t.skip "there is no sqlite3 command" end
  local statement = "update row set data = x'00' where n = 40"
  t.ok(os.execute(('sqlite3 %s/journal.db "%s"'):format(path, statement)))
  local done = replay(path, "--verify")
  t.equal(done.code, 6)
  t.ok(done.err:find("row 40", 1, true), done.err)
end)

test("a changed source is found", function(t)
  local path = finished()
  rewrite(path, function(row)
    if row.kind == "source" and row.slot == "./driven.lua" then
      row.data = row.data:gsub("and 1 or 0", "and 0 or 1")
    end
    return row
  end)
  local done = replay(path, "--verify")
  t.equal(done.code, 6)
  t.ok(done.err:find("./driven.lua", 1, true), done.err)
end)

test("a changed derived file is found by its name", function(t)
  local path = finished()
  replace(path .. "/steps/step_0002/selection_eval/results.jsonl", "b7", "b9")
  local done = replay(path, "--verify")
  t.equal(done.code, 6)
  t.ok(done.err:find("steps/step_0002/selection_eval/results.jsonl", 1, true), done.err)
end)

test("a missing answer in a run that had ended is a difference", function(t)
  local path = finished()
  rewrite(path, function(row)
    if row.kind == "effect" and row.slot == "test_eval/b9" then return nil end
    return row
  end)
  local done = replay(path, "--verify")
  t.equal(done.code, 6)
  t.ok(done.err:find("test_eval/b9", 1, true), done.err)
end)

------------------------------------------------------------------------- shuffle

test("five orders of the answers give the same run", function(t)
  local path = finished()
  for seed = 1, 5 do
    local done = replay(path, "--shuffle", tostring(seed))
    t.equal({ done.code, done.out:sub(1, 6) }, { 0, "equal:" }, done.err)
  end
end)

test("a counter in an environment is caught by another order", function(t)
  local path = finished(function(folder)
    support.write(folder .. "/counter.lua", test.read "tests/programs/counter/counter.lua")
    replace(folder .. "/experiment.lua", 'name = "driven"', 'name = "counter"')
  end)
  t.equal(replay(path, "--verify").code, 0, "in the order of the run it looks right")
  local caught = 0
  for seed = 1, 5 do
    if replay(path, "--shuffle", tostring(seed)).code == 6 then caught = caught + 1 end
  end
  t.ok(caught >= 4, ("caught with %d of 5 seeds"):format(caught))
end)

test("a program that reads the clock before its first call is the same when run again", function(t)
  local path = finished(function(folder)
    replace(folder .. "/prompts/rollout.md", "{{skill}}", "{{skill}}\nIt is now ...")
    replace(folder .. "/driven.lua", "question = item.question",
      "question = item.question .. os.time()")
  end)
  t.equal(replay(path, "--verify").code, 0)
end)

test("the clock of a run does not depend on how many items are at work", function(t)
  local _, folder = finished(function(folder)
    replace(folder .. "/driven.lua", "question = item.question",
      "question = item.question .. os.clock()")
  end, { args = { "env.workers=1" } })
  t.equal(#process.drive(folder, { args = { "env.workers=24" } }).asked, 0)
end)

test("dates do not depend on the machine's time zone", function(t)
  local script = [[
    local sandbox, loader = require "skillopt.sandbox", require "skillopt.loader"
    local world = sandbox.environment(loader)
    print(world.os.time { year = 2024, month = 7, day = 1, hour = 12 })
  ]]
  local here = process.lua(script, { before = "TZ=UTC" })
  local there = process.lua(script, { before = "TZ=Asia/Tokyo" })
  t.equal(there.err, here.err)
end)
