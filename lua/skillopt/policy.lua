--- What a policy file defines, and how it is made ready for a run.
---
--- `define` checks the shape when the file is loaded. `instance` fills in the option
--- values of one experiment and gives the loop a plain table, whose functions answer what
--- the contract of their slot says or raise (skillopt.contract).

local contract = require "skillopt.contract"
local names = require "skillopt.names"
local plugin = require "skillopt.plugin"

local show, is_list = contract.show, contract.is_list

local M = {}

--- Fields by slot: the form of each function, or the type of a plain field.
local SLOTS <const> = {
  loop = { run = "(ctx, opt) -> skill" },
  reflect = { run = "(evaluation, ctx, opt) -> raw patches" },
  aggregate = { run = "(patches, ctx, opt) -> patch" },
  select = { run = "(patch, rate, ctx, opt) -> patch" },
  update = {
    run = "(skill, patch, ctx, opt) -> skill, fates, or nil and why there is none",
    takes = "string",
  },
  rate = {
    run = "(step, total, opt) -> edits, or with waits = true (patch, ctx, opt) -> edits",
    waits = "boolean",
    control = "string",
  },
  metric = {
    item = "(marks, opt) -> number",
    adjust = "(mean, skill, opt) -> number",
    max = "number",
  },
  gate = {
    run = "(candidate, current, best, run, opt) -> decision, reason, need",
    hopeless = "(prefix, current, best, opt, run) -> boolean",
  },
  slow_update = { run = "(previous, current, ctx, opt) -> text or nil" },
  meta_skill = { run = "(previous, current, ctx, opt) -> text or nil" },
  appendix = {
    run = "(raw patches, ctx, opt) -> notes",
    compact = "(notes, ctx, opt) -> notes or nil",
  },
}

local COMMON <const> =
  { slot = "string", options = "table", check = "(opt) -> boolean, string" }
local REQUIRED <const> = { run = true, item = true }

-------------------------------------------------------------------------- words

--- The keys of `...` tables, each once.
local function keys(...)
  local seen, out = {}, {}
  for _, t in ipairs { ... } do
    for name in pairs(t) do
      if not seen[name] then out[#out + 1] = name end
      seen[name] = true
    end
  end
  return out
end

local function list(known) return table.concat(keys(known), ", ") end

--- ` (did you mean "x"?)` for the name nearest to `word`, or "".
local function hint(word, known)
  local near = names.nearest(tostring(word), known)
  return near and (" (did you mean %q?)"):format(near) or ""
end

local function config_error(form, ...)
  return { kind = "config", message = form:format(...), retry = false }
end

------------------------------------------------------------------------ options

local function is_integer(value) return math.type(value) == "integer" end

local function is_number(value)
  return type(value) == "number" and value == value and math.abs(value) ~= math.huge
end

local function is_type(name)
  return function(value) return type(value) == name end
end

local TYPES <const> = {
  integer = { "a whole number", is_integer },
  number = { "a number", is_number },
  boolean = { "true or false", is_type("boolean") },
  string = { "a string", is_type("string") },
  list = { "a list", is_list },
  choice = { "a choice", is_type("string") },
}

local OPTION_FIELDS <const> =
  { true, true, true, key = true, doc = true, min = true, max = true, choices = true }

--- What a value must be, in words.
local function expected(spec)
  if spec[1] == "choice" then return "one of " .. table.concat(spec.choices, ", ") end
  local words = TYPES[spec[1]][1]
  if spec.min and spec.max then
    return ("%s from %s to %s"):format(words, spec.min, spec.max)
  end
  if spec.min then return ("%s of at least %s"):format(words, spec.min) end
  if spec.max then return ("%s of at most %s"):format(words, spec.max) end
  return words
end

local function is_choice(spec, value)
  for _, choice in ipairs(spec.choices) do
    if choice == value then return true end
  end
  return false
end

local function fits(spec, value)
  if not TYPES[spec[1]][2](value) then return false end
  if spec[1] == "choice" then return is_choice(spec, value) end
  if spec.min and value < spec.min then return false end
  return not (spec.max and value > spec.max)
end

--- A float without fraction is a whole number for an `integer` option.
local function convert(spec, value)
  if spec[1] == "integer" and math.type(value) == "float" then
    return math.tointeger(value) or value
  end
  return value
end

--- What is wrong with the shape of one option, or nil.
local function option_fault(spec)
  if type(spec) ~= "table" then return 'must be a table {type, default, "doc"}' end
  for field in pairs(spec) do
    if not OPTION_FIELDS[field] then
      return ("has an unknown field %s"):format(show(field))
    end
  end
  if not TYPES[spec[1]] then
    return ("has the type %s, expected one of %s"):format(show(spec[1]), list(TYPES))
  end
  if spec[1] == "choice" and (not is_list(spec.choices) or #spec.choices == 0) then
    return "needs choices = {...}"
  end
  if type(spec.doc or spec[3]) ~= "string" then return "needs a line of doc" end
  if spec.key and type(spec.key) ~= "string" then return "needs a text as key" end
  if spec.key then
    return spec[2] ~= nil and "has a default, which belongs to its key" or nil
  end
  if spec[2] == nil or not fits(spec, convert(spec, spec[2])) then
    return ("has the default %s, expected %s"):format(show(spec[2]), expected(spec))
  end
end

------------------------------------------------------------------------- define

--- The file a definition stands in: that of its functions, since a tail call leaves no
--- other trace of it.
local function place(spec)
  for _, value in pairs(spec) do
    if type(value) == "function" then
      return (debug.getinfo(value, "S").source:gsub("^@", ""))
    end
  end
  return "policy"
end

local function check_fields(spec, fail)
  local fields = SLOTS[spec.slot]
  for field, value in pairs(spec) do
    local form = fields[field] or COMMON[field]
    if not form then
      fail(field, "is not known to slot %q%s", spec.slot,
        hint(field, keys(fields, COMMON)))
    end
    local kind = form:sub(1, 1) == "(" and "function" or form
    if type(value) ~= kind then
      form = kind == "function" and form or ""
      fail(field, "must be a %s%s, got %s", kind, form, show(value))
    end
  end
  for field, form in pairs(fields) do
    if REQUIRED[field] and spec[field] == nil then
      fail(field, "is missing: expected a function%s", form)
    end
  end
end

--- Check a policy's shape and give it back as a definition. Raises with the file, the
--- field and what is expected there.
---@param spec skillopt.PolicySpec and `check`: `(opt) -> true`, or false and why these
---       options cannot go together
---@return skillopt.PolicySpec definition
function M.define(spec)
  if type(spec) ~= "table" then
    error("policy.define: expected a table, got " .. show(spec), 2)
  end
  local where = place(spec)
  local function fail(field, form, ...)
    local what = form:format(...)
    error(config_error("%s: policy.define: field '%s' %s", where, field, what), 0)
  end
  if not SLOTS[spec.slot] then
    fail("slot", "is %s, expected one of %s%s", show(spec.slot), list(SLOTS),
      hint(spec.slot, keys(SLOTS)))
  end
  check_fields(spec, fail)
  for name, option in pairs(spec.options or {}) do
    local fault = option_fault(option)
    if fault then fail("options." .. tostring(name), "%s", fault) end
  end
  local definition = { is_policy = true }
  for field, value in pairs(spec) do definition[field] = value end
  definition.options = spec.options or {}
  return definition
end

----------------------------------------------------------------------- instance

--- Values of all options, or nil and a config error.
local function fill(who, options, values)
  for name in pairs(values) do
    if not options[name] then
      return nil, config_error("%s: unknown option %s%s", who, show(name),
        hint(name, keys(options)))
    end
  end
  local opt = {}
  for name, spec in pairs(options) do
    local value = values[name]
    if value == nil then value = spec[2] end
    value = convert(spec, value)
    if value == nil or not fits(spec, value) then
      return nil, config_error("%s: option '%s' must be %s, got %s", who, name,
        expected(spec), show(value))
    end
    opt[name] = value
  end
  return opt
end

--- The definition that an inline function stands for.
local function inline(slot, f)
  local field = SLOTS[slot] and (SLOTS[slot].item and "item" or "run")
  if not field then error("policy.instance: a function needs its slot", 3) end
  return { is_policy = true, slot = slot, options = {}, [field] = f }
end

--- Fields of a definition that are none of a policy's.
local APART <const> = { options = true, check = true, is_policy = true, slot = true }

--- Functions that only compute: nothing in them may wait.
local STILL <const> = { metric = { item = true, adjust = true },
  gate = { run = true, hopeless = true }, rate = { run = true }, appendix = { run = true } }

--- May this function of the definition wait? A rate says so itself.
local function may_wait(definition, field)
  local is_still = STILL[definition.slot] and STILL[definition.slot][field]
  return not is_still or definition.slot == "rate" and definition.waits == true
end

--- A field as the loop takes it: a function with what is to be said of it when it fails.
local function made_ready(policy, definition, who, field, value)
  if type(value) ~= "function" then return value end
  local form = SLOTS[policy.slot][field]:match "^%b()"
  policy.calls[field] = plugin.call(who, field .. form, value, may_wait(definition, field))
  return contract.of(policy.slot, field, policy.calls[field])
end

---@class skillopt.Policy
---@field slot string
---@field name string
---@field opt table option values
---@field run function? takes what the definition's takes, `opt` included
---@field item function? metric
---@field adjust function? metric
---@field max number? metric
---@field hopeless function? gate
---@field waits boolean? rate
---@field control string? rate: the word for it in the records, default "fixed"
---@field calls table<string, skillopt.PluginCall> what is said of its functions, by field
---@field takes string? update: the kind of items it works on, default "edits"

--- Make a definition or an inline function ready: fill in and check the option values.
---@param definition skillopt.PolicySpec|function
---@param values table<string, any>? by option name; those with a `key` must all be given
---@param identity {slot: string?, name: string?}? `slot` is needed for a function; `name`
---       is that of the file, default "inline"
---@return skillopt.Policy? policy
---@return skillopt.Err? err kind "config": a wrong option
function M.instance(definition, values, identity)
  local slot, name = identity and identity.slot, identity and identity.name or "inline"
  if type(definition) == "function" then definition = inline(slot, definition) end
  if type(definition) ~= "table" or not definition.is_policy then
    error("policy.instance: expected what policy.define returns, or a function", 2)
  end
  if slot and slot ~= definition.slot then
    return nil,
      config_error("policy %q is for slot %q, not %q", name, definition.slot, slot)
  end
  local who = ("policy.%s %q"):format(definition.slot, name)
  local opt, err = fill(who, definition.options, values or {})
  if not opt then return nil, err end
  if definition.check then
    local ok, why = definition.check(opt)
    if not ok then return nil, config_error("%s: %s", who, why) end
  end
  local policy = { name = name, slot = definition.slot, opt = opt, calls = {} }
  for field, value in pairs(definition) do
    if not APART[field] then policy[field] = made_ready(policy, definition, who, field, value) end
  end
  return policy
end

return M
