--- The shipped policies as a kit: small files, a contract and an example for each slot, and
--- a copy beside an experiment that is used in place of the shipped one.
local file = require "rt.file"
local json = require "rt.json"
local loader = require "skillopt.loader"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

local ROOT <const> = loader.home .. "/lua/policies"
local SLOTS <const> = { "loop", "reflect", "aggregate", "select", "update", "rate", "metric",
  "gate", "slow_update", "meta_skill", "appendix" }
local MOST_LINES <const> = 120

local function lines_of(text)
  return select(2, text:gsub("\n", "\n"))
end

test("the folders of policies are the slots", function(t)
  local found = assert(file.list(ROOT))
  local wanted = table.move(SLOTS, 1, #SLOTS, 1, {})
  table.sort(found)
  table.sort(wanted)
  t.equal(found, wanted)
end)

test("each policy file has less than 120 lines", function(t)
  local n = 0
  for _, slot in ipairs(SLOTS) do
    for _, name in ipairs(assert(file.list(ROOT .. "/" .. slot))) do
      if name:find "%.lua$" then
        local count = lines_of(test.read(("%s/%s/%s"):format(ROOT, slot, name)))
        t.ok(count < MOST_LINES, ("%s/%s has %d lines"):format(slot, name, count))
        n = n + 1
      end
    end
  end
  t.ok(n >= 20, n .. " policies")
end)

------------------------------------------------------------------------- examples

local HEAD <const> = [[
local decide = require "skillopt.decide"
local ending = require "skillopt.ending"
local patch = require "skillopt.patch"
local policy = require "skillopt.policy"
local train = require "skillopt.train"
local _ = { decide, ending, patch, train }
]]

for _, slot in ipairs(SLOTS) do
  test(("the README of %s states the contract and has an example that loads"):format(slot),
    function(t)
    local text = test.read(("%s/%s/README.md"):format(ROOT, slot))
    t.ok(text:find(slot == "metric" and "`item(" or "`run(", 1, true), "no contract")
    local example = text:match "```lua\n(.-)\n```"
    t.ok(example, "no example")
    t.ok(lines_of(example) < 10, "the example is long")
    local path = support.folder() .. "/example.lua"
    support.write(path, HEAD .. example .. "\n")
    t.equal(loader.user_file(path).slot, slot)
  end)
end

---------------------------------------------------------------------------- copies

local function items(prefix, count)
  local out = {}
  for i = 1, count do out[i] = { id = prefix .. i - 1, task_type = "a" } end
  return out
end

--- An optimizer whose every reply brings one rule; `calls` counts by stage.
local function optimizer(calls)
  local n = 0
  return function(_, stage)
    n, calls[stage] = n + 1, (calls[stage] or 0) + 1
    local edits = json.array { { op = "append", content = "- rule " .. n } }
    local reply = stage == "analyst" and { patch = { reasoning = "r", edits = edits } }
      or { reasoning = "r", edits = edits }
    return { text = json.encode(reply) }
  end
end

--- A short run with a policy of its own beside the experiment: the shipped file `from` under
--- the name `my_<slot>`, changed by `edit`.
local function trained(slot, from, edit)
  local folder, calls = support.folder(), {}
  support.write_splits(folder .. "/data",
    { train = items("t", 8), val = items("v", 4), test = items("x", 2) })
  support.write(folder .. "/skill.md", "# Init\n")
  local text = test.read(("%s/%s/%s.lua"):format(ROOT, slot, from))
  if edit then support.write(("%s/my_%s.lua"):format(folder, slot), edit(text)) end
  local run = support.prepare { folder = folder, search = { "tests/programs/traced" },
    experiment = {
      train = { num_epochs = 1, batch_size = 4 },
      gradient = { minibatch_size = 1, failure_only = true },
      evaluation = { eval_test = false }, model = { backend = "sim" },
      policy = { [slot] = edit and "my_" .. slot or from, slow_update = "none",
        meta_skill = "none" },
      env = { name = "traced", split_mode = "split_dir", split_dir = folder .. "/data",
        skill_init = folder .. "/skill.md" },
    } }
  local result = support.train(run, { path = folder .. "/out", optimizer = optimizer(calls) })
  return result.state, calls
end

--- Replaces one piece of a text, which must be there once.
local function change(text, piece, by)
  local first, last = text:find(piece, 1, true)
  assert(first and not text:find(piece, last + 1, true), piece)
  return text:sub(1, first - 1) .. by .. text:sub(last + 1)
end

local function actions(state)
  local out = {}
  for i, r in ipairs(state.history) do out[i] = r.action end
  return out
end

test("a gate that was copied beside the experiment and changed decides otherwise", function(t)
  local before = trained("gate", "strict")
  local after = trained("gate", "strict", function(text)
    return change(text, "decide.is_better(candidate, current)",
      "not decide.is_better(candidate, current)")
  end)
  t.equal(#before.history, 2)
  t.ok(actions(before)[1] ~= actions(after)[1])
end)

test("a merge that was copied beside the experiment and changed makes other calls", function(t)
  local state, calls = trained("aggregate", "tree")
  t.ok(calls.merge >= 1, calls.merge)
  local own, fewer = trained("aggregate", "tree", function(text)
    return change(text, "return #batch == 1 and batch[1] or ask(ctx, asked(#batch), batch, depth)",
      "return patch.concat(batch, 'joined', depth)")
  end)
  t.equal({ fewer.merge, state.history[1].n_edits_merged }, { nil, 1 })
  t.ok(own.history[1].n_edits_merged > 1)
end)

test("a metric that was copied beside the experiment and changed scores otherwise", function(t)
  local plain = trained("metric", "soft")
  local squared = trained("metric", "soft", function(text)
    return change(text, "return marks.soft", "return marks.soft ^ 2")
  end)
  t.equal(plain.history[1].gate_metric, "soft")
  t.equal(squared.history[1].gate_metric, "my_metric")
  t.ok(squared.baseline.score < plain.baseline.score)
end)

test("a file of that name that is no policy of the slot is named", function(t)
  local err = t.raises(function()
    trained("metric", "hard", function() return "return { no = 'policy' }\n" end)
  end, "my_metric.lua defines no policy for metric")
  t.ok(err)
end)

test("a policy under policies/SLOT stands before a file beside the experiment", function(t)
  local folder = support.folder()
  assert(file.mkdir(folder .. "/policies/metric"))
  local function metric(value)
    return ([[local policy = require "skillopt.policy"
return policy.define { slot = "metric", item = function() return %s end }]]):format(value)
  end
  support.write(folder .. "/mine.lua", metric "1")
  support.write(folder .. "/policies/metric/mine.lua", metric "2")
  loader.set_search { folder }
  local load = require "skillopt.config.open".loader { folder }
  t.equal(load("metric", "mine").item(), 2)
end)
