--- As analyst of text games: compares the shortest solution a trajectory refers to with
--- what the document says, and proposes the steps that such tasks take, what is to be done
--- before leaving a place, and where things are.
local json = require "rt.json"
local command_of = require "backends.sim.play_command"
local rule_of = require "backends.sim.play_rule"

local M = {}

local KEYS <const> = { "failure_summary", "success_patterns", "patch", "reasoning",
  edits = { "op", "target", "content" } }

-- Words that say little about what kind of task it is.
local SMALL <const> = {}
for word in ([[a an and are at by find for from in into it of on one or put some that the
    them then there to two under with]]):gmatch "%a+" do
  SMALL[word] = true
end

------------------------------------------------------------------------- the request

--- Is the request about played games?
---@param user string the request's user message
---@return boolean
function M.is_about(user)
  return user:find "\n%[step %d+ action%] " ~= nil
end

local function blocks_of(user)
  local starts, blocks = {}, {}
  for at in user:gmatch "\n()### Trajectory %d" do starts[#starts + 1] = at end
  for i, at in ipairs(starts) do blocks[i] = user:sub(at, (starts[i + 1] or #user + 1) - 1) end
  return blocks, user:sub(1, (starts[1] or #user + 1) - 1)
end

--- The commands of the solution in a block.
local function plan_of(block)
  local section = block:match "\n#### Reference[^\n]*\n(.-)\n#### "
  local plan = {}
  for line in (section or ""):gmatch "[^\n]+" do plan[#plan + 1] = line:match "^%d+%. (.+)$" end
  return plan
end

--------------------------------------------------------------------------- a solution

--- Steps that are some steps several times over become those.
local function without_repeats(steps)
  for size = 1, #steps // 2 do
    local repeats = #steps % size == 0
    for i = size + 1, #steps do repeats = repeats and steps[i] == steps[i - size] end
    if repeats then return table.move(steps, 1, size, 1, {}) end
  end
  return steps
end

--- A lesson: the task, its steps, what was done before leaving, where things were.
local function lesson_of(block)
  local plan, task = plan_of(block), block:match "\nTask: ([^\n]+)"
  if #plan == 0 or not task then return nil end
  local lesson = { task = task, steps = {}, firsts = {}, found = {}, kinds = {} }
  local place
  for _, command in ipairs(plan) do
    local things, destination = command_of.things(command), command_of.destination(command)
    for _, thing in ipairs(things) do lesson.kinds[thing.kind] = true end
    if destination then
      place = destination
    elseif #things == 1 and things[1].name == place then
      lesson.firsts[command_of.verb(command)] = true
    else
      lesson.steps[#lesson.steps + 1] = command_of.step(command, task)
      local from = command_of.is_take(command) and things[2]
      if from then lesson.found[things[1].kind] = from.kind end
    end
  end
  lesson.steps = without_repeats(lesson.steps)
  return lesson
end

------------------------------------------------------------------------------- words

--- Words of a task that may tell its kind.
local function telling(task)
  local words = {}
  for word in task:lower():gmatch "%a+" do words[word] = not SMALL[word] or nil end
  return words
end

--- Words that stand in the cluster's tasks and in none that is done otherwise.
local function own_words(cluster, lessons)
  local words = {}
  for _, lesson in ipairs(cluster) do
    for word in pairs(telling(lesson.task)) do words[word] = (words[word] or 0) + 1 end
    for kind in pairs(lesson.kinds) do words[kind] = nil end
  end
  for _, lesson in ipairs(lessons) do
    if not rule_of.same_steps(lesson.steps, cluster[1].steps) then
      for word in pairs(telling(lesson.task)) do words[word] = nil end
    end
  end
  return words
end

local function is_verb(word, steps)
  for _, step in ipairs(steps) do
    if command_of.verb(step) == word then return true end
  end
  return false
end

local function says_not(lessons, word)
  local out = {}
  for _, lesson in ipairs(lessons) do
    if not rule_of.says(lesson.task, word) then out[#out + 1] = lesson end
  end
  return out
end

--- The word that most of the lessons' tasks say; of several one that is also a verb.
local function best_word(words, lessons, steps)
  local best, best_score
  for word in pairs(words) do
    local n = #lessons - #says_not(lessons, word)
    local score = is_verb(word, steps) and n + 0.5 or n
    if n > 0 and (not best or score > best_score) then best, best_score = word, score end
  end
  return best
end

--- Few words so that each task of the cluster says one of them, as far as there are any.
local function cues_of(cluster, lessons)
  local words, cues, left = own_words(cluster, lessons), {}, cluster
  while #left > 0 do
    local word = best_word(words, left, cluster[1].steps)
    if not word then break end
    cues[#cues + 1], left = word, says_not(left, word)
  end
  return cues
end

------------------------------------------------------------------------------- edits

local function add(proposals, support, content, target)
  proposals[#proposals + 1] = { support = support,
    edit = { op = target and "replace" or "append", target = target, content = content } }
end

--- Lessons with the same steps together, without those the document teaches.
local function clusters_of(lessons, rules)
  local clusters = {}
  for _, lesson in ipairs(lessons) do
    if not rule_of.same_steps(lesson.steps, (rule_of.way(rules, lesson.task))) then
      local found
      for _, cluster in ipairs(clusters) do
        if rule_of.same_steps(cluster[1].steps, lesson.steps) then found = cluster end
      end
      if not found then
        found = {}
        clusters[#clusters + 1] = found
      end
      found[#found + 1] = lesson
    end
  end
  return clusters
end

local function union(a, b)
  local out, seen = {}, {}
  for _, words in ipairs { a, b } do
    for _, word in ipairs(words) do
      if not seen[word] then seen[word], out[#out + 1] = true, word end
    end
  end
  return out
end

local function propose_ways(proposals, lessons, rules)
  for _, cluster in ipairs(clusters_of(lessons, rules)) do
    local cues, steps, stated = cues_of(cluster, lessons), cluster[1].steps, nil
    for _, way in ipairs(rules.ways) do
      if rule_of.same_steps(way.steps, steps) then stated = way end
    end
    if #cues > 0 and stated then
      local all = { cues = union(stated.cues, cues), steps = steps }
      add(proposals, #cluster, rule_of.write_way(all), stated.line)
    elseif #cues > 0 then
      add(proposals, #cluster, rule_of.write_way { cues = cues, steps = steps })
    end
  end
end

local function propose_firsts(proposals, lessons, rules)
  local count, known = {}, {}
  for _, verb in ipairs(rules.firsts) do known[verb] = true end
  for _, lesson in ipairs(lessons) do
    for verb in pairs(lesson.firsts) do
      if not known[verb] then count[verb] = (count[verb] or 0) + 1 end
    end
  end
  for verb, n in pairs(count) do add(proposals, n, rule_of.write_first(verb)) end
end

--- Where things were found; such a rule speaks of few games, so it comes last.
local function propose_looks(proposals, lessons, rules)
  local found = {}
  for _, lesson in ipairs(lessons) do
    for kind, place in pairs(lesson.found) do found[kind] = union(found[kind] or {}, { place }) end
  end
  for kind, places in pairs(found) do
    local stated = rules.looks[kind]
    local all = union(stated and stated.places or {}, places)
    if not stated or #all > #stated.places then
      add(proposals, 0, rule_of.write_look(kind, all), stated and stated.line)
    end
  end
end

local function edits_of(lessons, rules, budget)
  local proposals, edits = {}, json.array {}
  propose_ways(proposals, lessons, rules)
  propose_firsts(proposals, lessons, rules)
  propose_looks(proposals, lessons, rules)
  table.sort(proposals, function(a, b) return a.support > b.support end)
  for i = 1, math.min(budget, #proposals) do edits[i] = proposals[i].edit end
  return edits
end

--- The reply about lost games.
---@param user string the request's user message
---@return string
function M.failures(user)
  local blocks, before = blocks_of(user)
  local rules, lessons = rule_of.all(before), {}
  for _, block in ipairs(blocks) do lessons[#lessons + 1] = lesson_of(block) end
  local budget = math.tointeger(tonumber(before:match "At most (%d+)")) or #blocks
  local edits = edits_of(lessons, rules, budget)
  local summary = json.array {}
  if #lessons > 0 then
    summary[1] = { failure_type = "wrong_sequence", count = #lessons,
      description = "the solution takes steps that were not done" }
  end
  return json.encode({
    failure_summary = summary,
    patch = { edits = edits, reasoning = ("%d of %d games have a solution to learn from.")
      :format(#lessons, #blocks) },
  }, { indent = true, keys = KEYS })
end

--- The reply about won games: what works is left alone.
---@return string
function M.successes()
  return json.encode({
    success_patterns = json.array { "takes what the task names and brings it where it belongs" },
    patch = { reasoning = "These games were won; nothing needs to change.", edits = json.array {} },
  }, { indent = true, keys = KEYS })
end

return M
