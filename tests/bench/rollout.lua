--- rollout.lua URL_INSTANT URL_SLOW URL_LONG [PART] - what a model call costs in a whole
--- run: prompt, digest, HTTP, journal, marks, files. The cost of starting a run and of its
--- items is taken out by the difference of a long and a short run. PART is `instant` (the
--- default: calls that are answered at once, and their replay), `slow` (256 in flight, 100
--- ms a reply) or `live` and `replay`, which do that alone, for a profile.
local core = require "rt.task"
local file = require "rt.file"
local flow = require "rt.flow"
local http = require "rt.http"
local journal = require "rt.journal"
local json = require "rt.json"
local loader = require "skillopt.loader"
local config_of = require "skillopt.config"
local opening = require "skillopt.config.open"
local run_of = require "skillopt.run"
local stdout = require "rt.stdout"

local ITEMS <const> = 500
local SLOW_ITEMS <const> = 10000
local folder = "build/tmp/bench"

local ENV = [[
local skillopt = require "skillopt"
local score = require "rt.score"
return skillopt.env {
  name = "bench",
  rollout = function(item, ctx)
    local reply = ctx:chat { system = ctx.skill, user = item.question }
    local answer = score.tagged(reply.text, "answer", { fallback = "last_line" })
    return { answer = answer, hard = score.exact_match(answer, item.answers),
      soft = score.f1(answer, item.answers) }
  end,
}
]]

-- It ends as loops do, on two items.
local LOOP = [[
local ending = require "skillopt.ending"
local policy = require "skillopt.policy"
local skill = require "skillopt.skill"
local train = require "skillopt.train"
return policy.define {
  slot = "loop",
  options = {
    rounds = { "integer", 1, "times the items are rolled out" },
    seed = { "integer", key = "train.seed", doc = "seed" },
    sel_env_num = { "integer", key = "evaluation.sel_env_num", doc = "selection items" },
    test_env_num = { "integer", key = "evaluation.test_env_num", doc = "test items" },
    eval_test = { "boolean", key = "evaluation.eval_test", doc = "measure the test set" },
  },
  run = function(ctx, opt)
    for r = 1, opt.rounds do
      ctx:evaluate(skill.new(ctx.skill .. r), ctx.data.val, { label = "round_" .. r })
    end
    return ending.run(ctx, train.start(ctx, opt), opt)
  end,
}
]]

local function write(path, text)
  assert(file.mkdir(path:match "^(.*)/"))
  assert(file.write(path, text))
end

local function write_inputs(n_items)
  write(folder .. "/bench.lua", ENV)
  write(folder .. "/policies/loop/bench.lua", LOOP)
  write(folder .. "/skill.md", "# Skill\n" .. ("- A rule about answers.\n"):rep(20))
  for split, n in pairs { train = 2, val = n_items, test = 2 } do
    local items = {}
    for i = 1, n do
      items[i] = { id = split .. i, answers = { "red" },
        question = "Which colour has box " .. i .. "? " .. ("context words "):rep(180) }
    end
    write(("%s/data/%s/items.json"):format(folder, split), json.encode(items))
  end
end

--- Rounds over all items, then the loop's own validation of `selection` items (0: all).
local function prepare(url, rounds, workers, selection)
  local path = folder .. "/experiment.lua"
  loader.set_search { folder }
  local load = opening.loader { folder }
  local config, err = config_of.resolve {
    file = path, source = "", read = file.read, load = load, configs = opening.configs(),
    cwd = file.absolute ".", args = {}, complete = true,
    env = function(name) return name == "OPENAI_COMPATIBLE_BASE_URL" and url or nil end,
    table = {
      model = { backend = "openai_compatible", calls_in_flight = workers },
      evaluation = { eval_test = false, predictions = "none",
        sel_env_num = selection or 2 },
      policy = { loop = { "bench", rounds = rounds } },
      env = { name = "bench", split_mode = "split_dir", split_dir = folder .. "/data",
        skill_init = folder .. "/skill.md", workers = workers },
    },
  }
  if not config then error(err.message, 0) end
  return run_of.prepare { config = config, file = path, folders = { folder }, load = load }
end

--- CPU and wall seconds of a run of so many rounds, live or from its journal.
local function measure(url, rounds, workers, out, selection)
  local run = prepare(url, rounds, workers, selection)
  local j = assert(journal.open(out .. "/journal.db"))
  local cpu, wall = os.clock(), flow.now()
  run_of.attach(run, { journal = j, path = out, quiet = true })
  core.spawn("", nil, 0, function() run_of.train(run) end)
  core.join(0)
  j:close()
  return os.clock() - cpu, flow.now() - wall
end

local function figure(name, value, unit)
  stdout.write(("figure %s %.1f %s\n"):format(name, value, unit))
end

local count = 0

local function fresh()
  count = count + 1
  local path = folder .. "/out" .. count
  file.remove(path, { root = "." })
  assert(file.mkdir(path))
  return path
end

--- Cost of a call, by the difference between a long and a short run.
local function per_call(url, workers)
  local short, long = fresh(), fresh()
  local cpu1 = measure(url, 1, workers, short)
  local cpu5, wall5 = measure(url, 5, workers, long)
  local calls = 4 * ITEMS
  local again1 = measure(url, 1, workers, short)
  local again5, replay_wall = measure(url, 5, workers, long)
  return (cpu5 - cpu1) / calls * 1e6, 5 * ITEMS / wall5, (again5 - again1) / calls * 1e6,
    5 * ITEMS / replay_wall
end

local PARTS <const> = {}

function PARTS.instant(instant)
  write_inputs(ITEMS)
  local cpu, rate, replay_cpu, replay_rate = per_call(instant .. "/v1", 64)
  figure("run.call.cpu_us", cpu, "us/call")
  figure("http.instant.calls_per_s", rate, "1/s")
  figure("run.replay.cpu_us", replay_cpu, "us/effect")
  figure("run.replay.rate", replay_rate, "effects/s")
end

--- Whole runs whose only calls are those of a first validation: no call waits for another
--- one's answer, as none of the bare program does. The first figure has opening and end in
--- it; in the second, the difference of a long and a short run, they are not. libcurl is
--- loaded before, as it is there.
function PARTS.slow(_, slow)
  write_inputs(SLOW_ITEMS)
  http.request { url = "http://127.0.0.1:1/" } -- nothing listens there
  local _, short = measure(slow .. "/v1", 0, 256, fresh(), SLOW_ITEMS // 5)
  local _, wall = measure(slow .. "/v1", 0, 256, fresh(), 0)
  figure("http.100ms.calls_per_s", SLOW_ITEMS / wall, "1/s")
  figure("http.100ms.steady.calls_per_s", (SLOW_ITEMS - SLOW_ITEMS // 5) / (wall - short), "1/s")
end

function PARTS.live(instant)
  write_inputs(ITEMS)
  file.remove(folder .. "/profile", { root = "." })
  assert(file.mkdir(folder .. "/profile"))
  measure(instant .. "/v1", 20, 64, folder .. "/profile")
end

function PARTS.replay(instant)
  for _ = 1, 4 do measure(instant .. "/v1", 20, 64, folder .. "/profile") end
end

local instant, slow, _, part = ...
PARTS[part or "instant"](instant, slow)
return 0
