--- As analyst: reads the trajectories again, compares what the document makes of each
--- value with what was expected, and proposes rules for what it does not explain.
local json = require "rt.json"
local learn = require "backends.sim.learn"
local reader = require "backends.sim.reader"
local rule_of = require "backends.sim.rule"
local shape = require "backends.sim.shape"

local M = {}

local KEYS <const> = { "failure_summary", "success_patterns", "patch", "appendix_notes",
  "reasoning", edits = { "op", "target", "content" } }

--- The trajectories' blocks, and what stands before them.
local function blocks_of(user)
  local starts, blocks = {}, {}
  for at in user:gmatch "\n()### Trajectory %d" do starts[#starts + 1] = at end
  for i, at in ipairs(starts) do blocks[i] = user:sub(at, (starts[i + 1] or #user + 1) - 1) end
  return blocks, user:sub(1, (starts[1] or #user + 1) - 1)
end

--- What a block says was expected; of several accepted answers the first.
local function expected_in(block)
  local words = block:match "\nExpected answer: ([^\n]+)"
    or block:match "\nAccepted answers: ([^\n]+)"
  local list = words and words:find "^%[" and json.decode(words)
  if type(list) == "table" then words = list[1] end
  return type(words) == "string" and words or nil
end

--- What was asked, what stands in the text, what was expected; nil when a block says not.
--- It is a lapse when the document gives just that.
local function example_of(block, rules)
  local content = block:match "%[user%] (.-)\n%[assistant%]"
  local expected = expected_in(block)
  local question, context = reader.question(content or "")
  local reading = question and expected and reader.read(context, question)
  if not reading then return nil end
  local answer, followed = rule_of.follow(rules, reading.value, question)
  return { shape = shape.of(reading.value), output = expected, question = question,
    followed = followed, is_lapse = answer == expected }
end

--- What the document does not explain, and what it does.
local function examples_in(blocks, rules)
  local defects, lapses = {}, {}
  for _, block in ipairs(blocks) do
    local example = example_of(block, rules)
    if example then table.insert(example.is_lapse and lapses or defects, example) end
  end
  return defects, lapses
end

--- Reminders of the rules that were there, each once.
local function reminders(lapses)
  local out, seen = json.array {}, {}
  for _, lapse in ipairs(lapses) do
    local about = lapse.followed and ("then follow the rule for values like `%s`")
      :format(lapse.followed.value) or "then give the value as it stands"
    local note = ("First take the line whose label fits the question, %s."):format(about)
    if not seen[note] then seen[note], out[#out + 1] = true, note end
  end
  return out
end

----------------------------------------------------------------------- proposals

local function append(rule) return { op = "append", content = rule_of.write(rule) } end

local function replace(old, rule)
  return { op = "replace", target = old.line, content = rule_of.write(rule) }
end

local function union(a, b)
  local out, seen = {}, {}
  for _, list in ipairs { a, b } do
    for _, cue in ipairs(list) do
      if not seen[cue] then seen[cue], out[#out + 1] = true, cue end
    end
  end
  return out
end

local function without(cues, gone)
  local out, is_gone = {}, {}
  for _, cue in ipairs(gone) do is_gone[cue] = true end
  for _, cue in ipairs(cues) do
    if not is_gone[cue] then out[#out + 1] = cue end
  end
  return out
end

local function changed(rule, cues)
  return { value = rule.value, answer = rule.answer, examples = rule.examples, cues = cues }
end

--- A stated rule that says the same of the same values, but to other questions.
local function sibling(rules, rule)
  for _, stated in ipairs(rules) do
    local says_the_same = stated.value == rule.value and stated.answer == rule.answer
    if stated.cues and says_the_same then return stated end
  end
end

--- The rule that was followed is wrong here: it is mended when one template explains its
--- examples too, and makes room for another rule otherwise.
local function against(cluster, rule, followed)
  local is_same_kind = followed.value == rule.value and #followed.examples > 0
  local both = is_same_kind and learn.reconciled(cluster.examples, followed)
  if both then
    local mended = { cues = followed.cues, examples = followed.examples }
    return { replace(followed, learn.rule(both, mended)) }
  end
  if followed.value ~= rule.value then return { append(rule) } end
  local cues = learn.cues(cluster)
  local own = changed(rule, cues)
  if not followed.cues then return { append(own) } end
  local left = without(followed.cues, cues)
  if #left == 0 then return { replace(followed, own) } end
  return { replace(followed, changed(followed, left)), append(own) }
end

local function edits_for(cluster, rules, is_contested)
  local seen = cluster.examples[1].shape
  local needs_cues = not cluster.is_whole and (seen.has_words_only or is_contested)
  local rule = learn.rule(cluster, { cues = needs_cues and learn.cues(cluster) or nil })
  local followed = cluster.examples[1].followed
  if followed then return against(cluster, rule, followed) end
  local other = rule.cues and sibling(rules, rule)
  if other then return { replace(other, changed(other, union(other.cues, rule.cues))) } end
  return { append(rule) }
end

--- Patterns that more than one cluster has.
local function contested(clusters)
  local count = {}
  for _, cluster in ipairs(clusters) do
    local pattern = cluster.examples[1].shape.pattern
    count[pattern] = (count[pattern] or 0) + (cluster.is_whole and 0 or 1)
  end
  return count
end

--- Edits in order of support, none twice on one line, at most `budget`.
local function edits_of(clusters, rules, budget)
  local edits, touched, count = json.array {}, {}, contested(clusters)
  for _, cluster in ipairs(clusters) do
    local is_contested = count[cluster.examples[1].shape.pattern] > 1
    for _, edit in ipairs(edits_for(cluster, rules, is_contested)) do
      local place = edit.target or edit.content
      if not touched[place] and #edits < budget then
        touched[place], edits[#edits + 1] = true, edit
      end
    end
  end
  return edits
end

local function summary_of(clusters)
  local list = json.array {}
  for i, cluster in ipairs(clusters) do
    local kind = cluster.examples[1].followed and "rule_wrong" or "rule_missing"
    list[i] = { failure_type = kind, count = #cluster.examples,
      description = ("how `%s` is to be answered"):format(cluster.examples[1].shape.pattern) }
  end
  return list
end

--- The reply about failed tasks.
---@param user string the request's user message
---@param wants_notes boolean? also reminders of rules that were there
---@return string
function M.failures(user, wants_notes)
  local blocks, before = blocks_of(user)
  local rules = rule_of.all(before)
  local examples, lapses = examples_in(blocks, rules)
  local clusters = learn.clusters(examples)
  local budget = math.tointeger(tonumber(before:match "At most (%d+)")) or #clusters
  return json.encode({
    failure_summary = summary_of(clusters),
    patch = {
      reasoning = ("%d of %d answers are not what the document makes of the values.")
        :format(#examples, #blocks),
      edits = edits_of(clusters, rules, budget),
    },
    appendix_notes = wants_notes and reminders(lapses) or nil,
  }, { indent = true, keys = KEYS })
end

--- The reply about solved tasks: what works is left alone.
---@return string
function M.successes()
  return json.encode({
    success_patterns = json.array { "takes the value whose label fits the question" },
    patch = { reasoning = "These tasks were solved.", edits = json.array {} },
  }, { indent = true, keys = KEYS })
end

return M
