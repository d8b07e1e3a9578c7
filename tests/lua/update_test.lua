--- The update policy.
local loader = require "skillopt.loader"
local policy = require "skillopt.policy"
local test = require "skillopt.test"

local UPDATE <const> = policy.instance(
  loader.user_file(loader.home .. "/lua/policies/update/patch.lua"), { max_tokens = 0 },
    { name = "patch" })

test("the patch is applied to the skill and the fates come back", function(t)
  local skill = require("skillopt.skill").new "# Init\n\n- be good\n"
  local new, fates = UPDATE.run(skill, { edits = {
    { op = "append", content = "- rule 1" },
    { op = "replace", target = "- no such line", content = "x" },
  } }, {}, UPDATE.opt)
  t.equal(new.text, "# Init\n\n- be good\n\n- rule 1\n")
  t.equal({ fates[1].fate, fates[2].fate }, { "applied", "anchor_missing" })
  t.equal(skill.text, "# Init\n\n- be good\n")
end)
