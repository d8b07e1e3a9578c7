--- The bonus for imperative words.
local density = require "skillopt.density"
local skill = require "skillopt.skill"
local test = require "skillopt.test"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

local DEFAULT <const> = { "must", "always", "never", "only", "critical", "important",
  "resolve", "prefer", "ensure", "strict", "verify" }

--- Cases (from 1) that differ on purpose, with our value: the words of a marker that has
--- no partner or stands inside a region are no words of the document.
local MARKERS <const> = "the words of a marker are no words of the document"
local OURS <const> = { [93] = 0.5, [94] = 0.5, [97] = 0.5, [98] = 0.5, [109] = 0.5,
  [110] = 0.5, [112] = 0.5, [113] = 0.5, [114] = 0.5, [146] = 0.25 }

test("densities equal core_semantic_density", function(t)
  local book = vectors.book "core_semantic_density.json"
  for i, case in ipairs(book.cases) do
    local words = case["in"].leading_words
    local got = density.of(case["in"].skill_content, words ~= json.null and words or DEFAULT)
    t.ok(got == (OURS[i] or case.out), ("case %d: got %s"):format(i, got))
    book:note(i, OURS[i] and MARKERS)
  end
  book:check(t)
end)

test("the bonus comes on top of what the metric does, when there is a skill", function(t)
  local metric = { max = 1, opt = {}, adjust = function(mean) return mean / 2 end }
  local one = density.added(metric, { weight = 0.5, words = { "MUST" } })
  t.equal(one.adjust(0.5, skill.new "must Must x y", {}), 0.5)
  t.equal(one.adjust(0.5, nil, {}), 0.25)
  t.equal({ one.max, metric.max }, { nil, 1 })
end)

test("protected regions do not count", function(t)
  local one = skill.new("a b\n"):with_region("slow_update", "must must must")
  t.equal(density.of(one.text, DEFAULT), 0.0)
end)
