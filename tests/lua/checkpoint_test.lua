--- Skills that come from elsewhere: a document in the form of the reference's released
--- skills is evaluated and continued as it is, and the shipped ones are what their README
--- says.
local file = require "rt.file"
local json = require "rt.json"
local loader = require "skillopt.loader"
local test = require "skillopt.test"
local document = require "rt.document"
local text_of = require "rt.text"
local support = test.support "tests/lua/support.lua"

local LONG <const> = test.read "tests/programs/reference/long_skill.md"
local GUIDANCE <const> = document.region(LONG, "slow_update")

local function items(first, last)
  local out = {}
  for n = first, last do
    out[#out + 1] = { id = "b" .. n, question = "What holds box " .. n .. "?",
      answer = "thing " .. n }
  end
  return out
end

local function text_in(request)
  local out = {}
  for _, message in ipairs(request.messages) do
    for _, part in ipairs(message.content) do out[#out + 1] = part.text end
  end
  return table.concat(out, "\n")
end

--- A run from the long skill: what was asked of the two models, by stage, and the result.
local function run(settings)
  local folder, asked = support.folder(), { target = {} }
  support.write_splits(folder .. "/data",
    { train = items(1, 4), val = items(5, 8), test = items(9, 10) })
  support.write(folder .. "/skill.md", LONG)
  local experiment = { train = { num_epochs = 3, batch_size = 4 }, model = { backend = "sim" },
    optimizer = settings.optimizer or {}, policy = settings.policy or {},
    evaluation = settings.evaluation or {},
    env = { name = "driven", split_mode = "split_dir", split_dir = folder .. "/data",
      skill_init = folder .. "/skill.md" } }
  experiment.optimizer.slow_update_samples = 4
  local prepared = support.prepare { folder = folder, search = { "tests/programs/driven" },
    experiment = experiment }
  local n = 0
  local result = support.train(prepared, { path = folder .. "/out",
    target = function(request)
      table.insert(asked.target, text_in(request))
      return { text = "nothing" }
    end,
    optimizer = function(request, stage)
      n = n + 1
      asked[stage] = asked[stage] or {}
      table.insert(asked[stage], text_in(request))
      if stage ~= "analyst" then
        return { text = json.encode { slow_update_content = "New guidance.",
          meta_skill_content = "Memory." } }
      end
      return { text = json.encode { patch = { reasoning = "r", edits = json.array {
        { op = "append", content = "- rule " .. n } } } } }
    end })
  return result, asked, folder .. "/out"
end

test("a document in the reference's form has its size and its region", function(t)
  local length = text_of.length(LONG)
  t.ok(length >= 2000 and length <= 13000, length)
  t.equal(document.check(LONG), {})
  t.ok(LONG:find "<!%-%- SLOW_UPDATE_END %-%->\n$")
  t.ok(#GUIDANCE > 100)
end)

test("it is measured as it is: the target gets every byte of it", function(t)
  local result, asked, out = run { optimizer = { learning_rate = 0, min_learning_rate = 0 },
    evaluation = { no_skill = false } }
  t.equal(test.read(out .. "/skills/skill_v0000.md"), LONG)
  t.equal(test.read(out .. "/best_skill.md"), LONG)
  t.ok(#asked.target > 0)
  for _, text in ipairs(asked.target) do t.ok(text:find(LONG, 1, true), "not the whole text") end
  t.equal(result.state.skill.text, LONG)
end)

test("it is continued as it is: edits go before the guidance, which stays until it is rewritten",
  function(t)
  local _, asked, out = run { policy = { gate = "none" } }
  local first, second = test.read(out .. "/skills/skill_v0001.md"),
    test.read(out .. "/steps/step_0002/candidate_skill.md")
  t.equal(first, (LONG:gsub("<!%-%- SLOW", "- rule 1\n\n%0", 1)))
  t.equal(document.region(second, "slow_update"), GUIDANCE)
  t.equal(json.decode(test.read(out .. "/slow_update/epoch_01/slow_result.json")).action,
    "inject_placeholder")
  t.ok(asked.slow_update[1]:find(GUIDANCE, 1, true), "the guidance before is not told")
  t.equal(document.region(test.read(out .. "/skills/skill_v0002.md"), "slow_update"),
    "New guidance.")
  t.equal(#asked.meta_skill, 1)
  for _, text in ipairs(asked.target) do
    t.ok(not text:find("Memory.", 1, true), "the target is sent the optimizer's memory")
  end
end)

------------------------------------------------------------------ shipped skills

local SHIPPED <const> = loader.home .. "/ckpt"

local function folders()
  local out = {}
  for _, name in ipairs(assert(file.list(SHIPPED))) do
    if file.kind(SHIPPED .. "/" .. name) == "folder" then out[#out + 1] = name end
  end
  return out
end

test("each shipped skill stands in the README with scores, digest and command", function(t)
  local readme = test.read(SHIPPED .. "/README.md")
  t.ok(#folders() >= 1)
  for _, name in ipairs(folders()) do
    local card = json.decode(test.read(("%s/%s/card.json"):format(SHIPPED, name)))
    local pieces = { card.run_digest, "`" .. card.models.target .. "`",
      ("%.4f"):format(card.test.before), ("%.4f"):format(card.test.after),
      ("n = %d"):format(card.test.n), ("--skill ckpt/%s/best_skill.md --split test"):format(name) }
    for _, piece in ipairs(pieces) do
      t.ok(readme:find(piece, 1, true), name .. ": the README does not say " .. piece)
    end
    t.equal(document.check(test.read(("%s/%s/best_skill.md"):format(SHIPPED, name))), {})
  end
end)
