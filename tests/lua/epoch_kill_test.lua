--- A run that is killed at the end of an epoch, place by place, ends as the undisturbed one
--- and, at one call in flight, asks nothing again but the call that was lost.
local file = require "rt.file"
local json = require "rt.json"
local test = require "skillopt.test"
local process = test.support "tests/lua/process.lua"
local record = require "skillopt.record"

local COMMON <const> = { "train.num_epochs=3", "policy.gate=none", "gradient.failure_only=false",
  "optimizer.use_slow_update=true", "optimizer.use_meta_skill=true",
  "optimizer.slow_update_samples=2", "optimizer.use_skill_aware_reflection=true",
  "env.workers=1", "gradient.analyst_workers=1", "env.out_root=here" }

local function arguments(...)
  local out = table.move(COMMON, 1, #COMMON, 1, {})
  for _, one in ipairs { ... } do out[#out + 1] = one end
  return out
end

--- Guidance by force makes the last skill one that was never measured; through the gate it
--- has a measurement of its own.
local FORCED <const> = arguments()
local GATED <const> = arguments "optimizer.slow_update_gate_with_selection=true"

--- Where the run is killed: in words, the configuration, the slots; some in the long form
--- alone.
local PLACES <const> = {
  { "the slow update's rollouts with the skill before", FORCED,
    "^slow_update/epoch_02/rollout_prev/" },
  { "the slow update's rollouts with the current skill", FORCED,
    "^slow_update/epoch_02/rollout_curr/", is_long = true },
  { "the slow update's own call", FORCED, "^slow_update/epoch_02$" },
  { "the slow update of the last epoch", FORCED, "^slow_update/epoch_03", is_long = true },
  { "the gate of the slow update", GATED, "^slow_update/epoch_02/selection_eval/" },
  { "the meta skill", FORCED, "^meta_skill/epoch_02" },
  { "the step behind the meta skill", FORCED, "^steps/step_0005/", is_long = true },
  { "the last validation", FORCED, "^final_selection_eval/" },
  { "the test of the first skill", FORCED, "^test_eval_baseline/", is_long = true },
  { "the test of the best skill", FORCED, "^test_eval/" },
  { "the test of the last skill", FORCED, "^test_eval_final/", is_long = true },
}

------------------------------------------------------------------------ comparing

local NOT_DERIVED <const> = { ["journal.db"] = true, ["journal.db-wal"] = true,
  ["journal.db-shm"] = true, ["journal.head"] = true, ["journal.ballast"] = true,
  ["run.lock"] = true, ["log.jsonl"] = true }

--- Contents of all derived files by path, without the fields that may differ.
local function contents(root, below, out)
  for _, name in ipairs(assert(file.list(root .. below))) do
    local path = below .. "/" .. name
    if file.kind(root .. path) == "folder" then
      contents(root, path, out)
    elseif not NOT_DERIVED[name] then
      local text = test.read(root .. path)
      out[path] = name:find "%.json$" and json.canonical(record.comparable(json.decode(text)))
        or text
    end
  end
  return out
end

local whole = {} -- undisturbed runs by configuration

local function undisturbed(args)
  if not whole[args] then
    local folder = process.program()
    local r = process.drive(folder, { args = args })
    whole[args] = { asked = r.asked, files = contents(folder .. "/here", "", {}) }
  end
  return whole[args]
end

--- Calls whose slots have the pattern.
local function count(asked, pattern)
  local n = 0
  for _, slot in ipairs(asked) do n = n + (slot:find(pattern) and 1 or 0) end
  return n
end

local function check_place(t, place, at)
  local args, pattern = place[2], place[3]
  local want, folder = undisturbed(args), process.program()
  local killed = process.drive(folder, { args = args, kill_in = pattern, kill_at = at })
  t.equal(killed.signal, true)
  t.ok(killed.asked[#killed.asked]:find(pattern), "killed in " .. killed.asked[#killed.asked])
  local r = process.drive(folder, { args = args })
  t.ok(r.ok, r.err and r.err.message)
  t.equal(#killed.asked + #r.asked, #want.asked + 1)
  local got = contents(folder .. "/here", "", {})
  for path, text in pairs(want.files) do t.equal(got[path], text, path) end
  for path in pairs(got) do t.ok(want.files[path], path .. " is only in the killed run") end
end

local is_short <const> = test.form() == "short"

for _, place in ipairs(PLACES) do
  local register = is_short and place.is_long and function() end or test
  register(("a run that is killed in %s ends as the undisturbed one"):format(place[1]), function(t)
    local calls = count(undisturbed(place[2]).asked, place[3])
    t.ok(calls > 0, "nothing is asked there")
    check_place(t, place, 1)
    for at = 2, is_short and 1 or calls do check_place(t, place, at) end
  end)
end
