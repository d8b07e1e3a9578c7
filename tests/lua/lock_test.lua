--- rt.lock: one process a run folder, or many that only read it.
local file = require "rt.file"
local json = require "rt.json"
local lock = require "rt.lock"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local support = test.support "tests/lua/support.lua"

local function fresh() return support.folder() .. "/run.lock" end

test("lock.acquire gives a lock and no note in a fresh folder", function(t)
  local path = fresh()
  local held, note = lock.acquire(path)
  t.equal({ type(held), note, (file.kind(path)) }, { "userdata", "", "file" })
  held:release()
end)

test("lock:release takes the file away, twice is fine", function(t)
  local path = fresh()
  local held = assert(lock.acquire(path))
  held:release()
  held:release()
  t.equal((file.kind(path)), "none")
end)

test("a second one is refused and told who has it", function(t)
  local path = fresh()
  local held <close> = assert(lock.acquire(path))
  local second, err = lock.acquire(path)
  t.equal({ second, err.kind, type(held) }, { nil, "io", "userdata" })
  t.ok(err.message:find "%d+", err.message)
end)

test("readers share, a writer is refused meanwhile", function(t)
  local path = fresh()
  assert(lock.acquire(path)):release()
  local one <close> = assert(lock.acquire(path, { shared = true }))
  local two <close> = assert(lock.acquire(path, { shared = true }))
  local writer = lock.acquire(path)
  t.equal({ writer, type(one), type(two) }, { nil, "userdata", "userdata" })
end)

test("a reader is refused while somebody writes", function(t)
  local path = fresh()
  local held <close> = assert(lock.acquire(path))
  local reader, err = lock.acquire(path, { shared = true })
  t.equal({ reader, err.kind, type(held) }, { nil, "io", "userdata" })
end)

test("another process is refused while this one holds the lock", function(t)
  local path = file.absolute(fresh())
  local script = ('local held, err = require("rt.lock").acquire "%s"\n'
    .. 'require("rt.stdout").write(held and "got it" or err.kind)'):format(path)
  local held = assert(lock.acquire(path))
  t.equal(process.lua(script).out, "io")
  held:release()
  t.equal(process.lua(script).out, "got it")
end)

test("a lock left by a process that was killed is given, with a note", function(t)
  local path = file.absolute(fresh())
  process.lua(([[local held = require("rt.lock").acquire "%s"
    os.execute "kill -9 $PPID"
    return held]]):format(path))
  t.equal((file.kind(path)), "file")
  local held, note = lock.acquire(path)
  t.ok(held and note ~= "", "no note")
  held:release()
end)

test("what the lock file says of a holder is enough only where the kernel says so too", function(t)
  local case = json.decode(test.read "tests/cases/f04_two_runs_one_dir.json")
  local path = fresh()
  support.write(path, json.encode(case.lock_on_disk) .. "\n")
  local held = lock.acquire(path) -- nobody holds it: that process has ended
  t.equal(type(held), "userdata")
  held:release()
end)

test("a closed variable gives the lock back", function(t)
  local path = fresh()
  do local held <close> = assert(lock.acquire(path)) t.ok(held) end
  local again = assert(lock.acquire(path))
  again:release()
end)

test("a folder that is not there is an error of the world", function(t)
  local held, err = lock.acquire "build/tmp/no/such/folder/run.lock"
  t.equal({ held, err.kind }, { nil, "io" })
end)

test("unknown options are refused", function(t)
  t.raises(function() lock.acquire(fresh(), { share = true }) end, "share")
end)
