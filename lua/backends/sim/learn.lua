--- From what was asked, read and expected to rules: examples of one pattern are put
--- together as long as one template explains them.
local induce = require "backends.sim.induce"
local rule_of = require "backends.sim.rule"
local sample = require "backends.sim.sample"
local shape = require "backends.sim.shape"
local template = require "backends.sim.template"

local M = {}

--- Templates dearer than this explain nothing; when several examples agree less is luck.
local MOST_COST <const>, MOST_SHARED_COST <const> = 18, 26
--- Examples a rule shows at most, and words of a value that may be answered as a whole.
local SHOWN <const>, WHOLE_WORDS <const> = 3, 3

---@class sim.Example
---@field shape sim.Shape
---@field output string what is expected
---@field question string
---@field followed sim.Rule? the rule that gave another answer

---@class sim.Cluster
---@field examples sim.Example[]
---@field pieces sim.Piece[]
---@field cost number
---@field is_whole boolean the value is answered as a whole

local function can_be_whole(examples)
  local first = examples[1].shape
  if not first.has_words_only or #first.slots > WHOLE_WORDS then return false end
  for _, example in ipairs(examples) do
    if example.shape.value ~= first.value then return false end
  end
  return true
end

--- The cluster of these examples; nil when nothing simple explains them all.
local function cluster_of(examples)
  local pieces, cost = induce.induce(examples)
  if not pieces then return nil end
  local is_whole = induce.is_fixed(pieces)
  if is_whole and not can_be_whole(examples) then return nil end
  if cost > (#examples > 1 and MOST_SHARED_COST or MOST_COST) then return nil end
  return { examples = examples, pieces = pieces, cost = cost, is_whole = is_whole }
end

local function with(examples, more)
  local out = table.move(examples, 1, #examples, 1, {})
  return table.move(more, 1, #more, #out + 1, out)
end

--- Clusters, those with most examples first.
---@param examples sim.Example[]
---@return sim.Cluster[]
function M.clusters(examples)
  local clusters = {}
  for _, example in ipairs(examples) do
    local is_taken = false
    for i, cluster in ipairs(clusters) do
      if cluster.examples[1].shape.pattern == example.shape.pattern then
        local joined = cluster_of(with(cluster.examples, { example }))
        if joined then
          clusters[i], is_taken = joined, true
          break
        end
      end
    end
    clusters[#clusters + 1] = not is_taken and cluster_of { example } or nil
  end
  table.sort(clusters, function(a, b)
    if #a.examples ~= #b.examples then return #a.examples > #b.examples end
    return a.cost < b.cost
  end)
  return clusters
end

--- How the questions of a cluster begin, each once, in order.
---@param cluster sim.Cluster
---@return string[]
function M.cues(cluster)
  local cues, seen = {}, {}
  for _, example in ipairs(cluster.examples) do
    local cue = rule_of.cue(example.question)
    if cue ~= "" and not seen[cue] then
      seen[cue], cues[#cues + 1] = true, cue
    end
  end
  return cues
end

--- Those of the examples that do not look like one before, at most three.
---@param examples {[1]: string, [2]: string}[]
---@return {[1]: string, [2]: string}[]
function M.distinct(examples)
  local out, seen = {}, {}
  for _, one in ipairs(examples) do
    local look = one[1]:gsub("[1-9]", "1")
    if not seen[look] and #out < SHOWN then
      seen[look], out[#out + 1] = true, one
    end
  end
  return out
end

--- Examples for a rule: those given, then made-up ones like those of the cluster.
local function samples(cluster, given)
  local all = table.move(given, 1, #given, 1, {})
  for _, example in ipairs(cluster.is_whole and {} or cluster.examples) do
    all[#all + 1] = sample.of(example.shape, cluster.pieces)
  end
  return M.distinct(all)
end

--- The rule a cluster stands for.
---@param cluster sim.Cluster
---@param options {cues: string[]?, examples: table[]?}
---@return sim.Rule
function M.rule(cluster, options)
  local first = cluster.examples[1].shape
  return {
    value = cluster.is_whole and first.value or first.pattern,
    answer = template.write(cluster.pieces), pieces = cluster.pieces, cues = options.cues,
    examples = samples(cluster, options.examples or {}),
  }
end

--- What is shown in a rule, as examples to learn from.
---@param rule sim.Rule
---@return sim.Example[]
function M.shown(rule)
  local out = {}
  for i, one in ipairs(rule.examples) do
    out[i] = { shape = shape.of(one[1]), output = one[2], question = "" }
  end
  return out
end

--- One cluster of the examples and those a rule shows, if one template explains both.
---@param examples sim.Example[]
---@param rule sim.Rule
---@return sim.Cluster?
function M.reconciled(examples, rule)
  local all = with(examples, M.shown(rule))
  for _, example in ipairs(all) do
    if example.shape.pattern ~= all[1].shape.pattern then return nil end
  end
  local cluster = cluster_of(all)
  return cluster and not cluster.is_whole and cluster or nil
end

return M
