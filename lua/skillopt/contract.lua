--- What each slot's function must answer, looked at before the loop takes it: an answer of
--- another form is a mistake of the policy's author and says so.
local json = require "rt.json"
local patch = require "skillopt.patch"
local plugin = require "skillopt.plugin"
local skill = require "skillopt.skill"

local M = {}

local DECISIONS <const> =
  { accept = true, reject = true, undecided = true, force_accept = true }
local SIDES <const> = { candidate = true, current = true, best = true }

--- A value in a message.
---@param value any
---@return string
local function show(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "table" then return "a table" end
  return tostring(value)
end

--- Is it a table whose keys are 1, 2, ... n?
---@param value any
---@return boolean
local function is_list(value)
  if type(value) ~= "table" then return false end
  local n = 0
  for _ in pairs(value) do n = n + 1 end
  return n == #value
end

M.show, M.is_list = show, is_list

--------------------------------------------------------------------------- gate

local function is_need(need)
  local good = type(need) == "table" and math.type(need.repeats) == "integer"
    and need.repeats >= 1 and is_list(need.of) and #need.of > 0
  for _, side in ipairs(good and need.of or {}) do good = good and SIDES[side] end
  return good
end

local function need_of(call, need)
  if need == nil then return { repeats = 1, of = { "candidate", "current" } } end
  if not is_need(need) then
    plugin.wrong(call, 'need must be {repeats = 1 or more, of = {"candidate", "current"}}')
  end
  return need
end

--- A word, the reason, and what an undecided gate needs.
local function gate(call, decision, reason, need)
  if type(decision) == "boolean" then decision = decision and "accept" or "reject" end
  if not DECISIONS[decision] then
    plugin.wrong(call, "a gate answers true, false, accept, reject or undecided, got %s",
      show(decision))
  end
  if reason ~= nil and type(reason) ~= "string" then
    plugin.wrong(call, "a gate's reason is a text, got %s", show(reason))
  end
  return decision, reason, decision == "undecided" and need_of(call, need) or nil
end

local function hopeless(call, answer)
  if answer ~= nil and type(answer) ~= "boolean" then
    plugin.wrong(call, "it must answer true or false, got %s", show(answer))
  end
  return answer == true
end

--------------------------------------------------------------- metric and rate

local function finite(call, value)
  local is_finite = math.type(value) and value == value and math.abs(value) ~= math.huge
  if not is_finite then
    plugin.wrong(call, "it must answer a finite number, got %s", show(value))
  end
end

local function rate(call, edits, decision)
  local whole = math.type(edits) and math.tointeger(edits)
  if not whole or whole < 0 then
    plugin.wrong(call, "a rate is a whole number of at least 0, got %s", show(edits))
  end
  if decision ~= nil and type(decision) ~= "table" then
    plugin.wrong(call, "what a rate adds for the records is a table, got %s", show(decision))
  end
  return whole, decision
end

------------------------------------------------------------------------ patches

--- Records hold what JSON can hold.
local function check_writable(call, value, what)
  local ok, why = pcall(json.canonical, value)
  if ok then return end
  why = type(why) == "table" and why.message or tostring(why)
  plugin.wrong(call, "%s cannot be written down: %s", what, why:match "%((.*)%)$" or why)
end

--- Raw patches: each an object with `malformed` or a list of items.
local function reflect(call, raws)
  if not is_list(raws) then
    plugin.wrong(call, "it must answer a list of raw patches, got %s", show(raws))
  end
  for i, raw in ipairs(raws) do
    local inner = type(raw) == "table" and (raw.patch == nil and raw or raw.patch)
    local is_patch = type(inner) == "table" and type(patch.items(inner)) == "table"
    if not is_patch and not (inner and raw.malformed == true) then
      plugin.wrong(call, "it must answer a list of raw patches, and entry %d is none: "
        .. "{batch_size, source_type, patch = {edits = {...}}}, got %s", i, show(raw))
    end
    check_writable(call, raw, "raw patch " .. i)
  end
end

local function one_patch(call, value)
  if type(value) ~= "table" then
    plugin.wrong(call, "it must answer a patch, got %s", show(value))
  end
  local items = patch.items(value)
  if not is_list(items) then
    plugin.wrong(call, "it must answer a patch, and its '%s' is no list: %s", patch.kind(value),
      show(items))
  end
  for i, item in ipairs(items) do
    if type(item) ~= "table" then
      plugin.wrong(call, "item %d of its patch is no table: %s", i, show(item))
    end
  end
  check_writable(call, value, "its patch")
end

--------------------------------------------------------------------- skills, texts

local function is_texts(value)
  if not is_list(value) then return false end
  for _, one in ipairs(value) do
    if type(one) ~= "string" then return false end
  end
  return true
end

--- A skill and what became of each edit; or nothing and why.
local function update(call, made, fates, changes)
  if made == nil or made == false then
    if fates ~= nil and type(fates) ~= "string" then
      plugin.wrong(call, "why there is no new skill is a text, got %s", show(fates))
    end
    return
  end
  if not skill.is_skill(made) then
    plugin.wrong(call, "it must answer a skill (as skill:apply makes one) or nil, got %s",
      show(made))
  end
  if fates ~= nil and not is_list(fates) then
    plugin.wrong(call, "the fates of the edits are a list, got %s", show(fates))
  end
  check_writable(call, fates or {}, "the fates of its edits")
  if changes ~= nil and not is_texts(changes) then
    plugin.wrong(call, "what changed is a list of texts, got %s", show(changes))
  end
end

local function text(call, value, reason)
  if value ~= nil and type(value) ~= "string" then
    plugin.wrong(call, "it must answer a text or nil, got %s", show(value))
  end
  if reason ~= nil and type(reason) ~= "string" then
    plugin.wrong(call, "its reason is a text, got %s", show(reason))
  end
end

local function notes(call, value)
  if not is_texts(value) then
    plugin.wrong(call, "it must answer a list of notes, which are texts, got %s", show(value))
  end
end

local function fewer_notes(call, value)
  if value ~= nil then notes(call, value) end
end

------------------------------------------------------------------- environments

local function task_type(call, value)
  if type(value) ~= "string" or value == "" then
    plugin.wrong(call, "it must answer a text, got %s", show(value))
  end
end

local function feedback(call, value)
  if value ~= nil and type(value) ~= "string" then
    plugin.wrong(call, "it must answer a text or nil, got %s", show(value))
  end
end

------------------------------------------------------------------------- slots

--- What only looks lets all through.
local function passing(look)
  return function(call, ...)
    look(call, ...)
    return ...
  end
end

--- Answers by slot and function.
local ANSWERS <const> = {
  metric = { item = passing(finite), adjust = passing(finite) },
  gate = { run = gate, hopeless = hopeless }, rate = { run = rate },
  reflect = { run = passing(reflect) },
  aggregate = { run = passing(one_patch) }, select = { run = passing(one_patch) },
  update = { run = passing(update) },
  slow_update = { run = passing(text) }, meta_skill = { run = passing(text) },
  appendix = { run = passing(notes), compact = passing(fewer_notes) },
  environment = { task_type = passing(task_type), feedback = passing(feedback) },
}

--- The function of a slot, or of an environment: what it raises and what it answers against
--- its contract say whose mistake it is.
---@param slot string
---@param field string
---@param call skillopt.PluginCall
---@return function
function M.of(slot, field, call)
  local guarded, answer = plugin.guard(call), (ANSWERS[slot] or {})[field]
  if not answer then return guarded end
  return function(...) return answer(call, guarded(...)) end
end

return M
