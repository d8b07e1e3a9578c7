--- Small working folders to begin with: an environment, an experiment, a policy. They are
--- files in `lua/templates`, in which NAME and SLOT stand for what was asked for.
local file = require "rt.file"
local loader = require "skillopt.loader"
local names = require "skillopt.names"
local refuse = require "skillopt.refuse"

local M = {}

--- What can be made.
M.KINDS = { "env", "experiment", "policy" }

local LONGEST <const> = 40
local RESERVED <const> = { skillopt = true, cjson = true } -- what `require` gives already
local TAUGHT <const> = "gate" -- the slot whose policy is a template of its own

--- Files below a folder: `{path, text}`, paths relative to it.
local function files_below(folder, prefix, out)
  for _, name in ipairs(assert(file.list(folder))) do
    local full = folder .. "/" .. name
    if file.kind(full) == "folder" then
      files_below(full, prefix .. name .. "/", out)
    else
      out[#out + 1] = { path = prefix .. name, text = assert(file.read(full)) }
    end
  end
  return out
end

local function filled(files, words)
  for _, one in ipairs(files) do
    for word, value in pairs(words) do
      one.path, one.text = one.path:gsub(word, value), one.text:gsub(word, value)
    end
  end
  return files
end

-------------------------------------------------------------------------- policies

local function slot_folder(slot) return loader.home .. "/lua/policies/" .. slot end

local function choices_of(slot)
  local found = {}
  for _, entry in ipairs(file.list(slot_folder(slot)) or {}) do
    found[#found + 1] = entry:match "^([a-z][a-z0-9_]*)%.lua$"
  end
  return found
end

--- A shipped policy of the slot; the first one unless another is asked for.
local function choice_of(slot, from)
  local choices = choices_of(slot)
  if not from then return choices[1] end
  for _, name in ipairs(choices) do
    if name == from then return name end
  end
  return refuse("usage", string.format("there is no policy '%s' for %s", from, slot),
    "shipped are: " .. table.concat(choices, ", "))
end

--- Files of a shipped policy as those of the new one, its prompts beside it.
local function copied(slot, choice)
  local files = { { path = "policies/SLOT/NAME.lua",
    text = assert(file.read(string.format("%s/%s.lua", slot_folder(slot), choice))) } }
  local prompts = slot_folder(slot) .. "/prompts"
  if file.kind(prompts) == "folder" then
    files_below(prompts, "policies/SLOT/prompts/", files)
  end
  return files
end

local function is_slot(slot)
  return slot:find "^[a-z_]+$" and file.kind(slot_folder(slot)) == "folder"
end

local function unknown_slot(slot)
  local slots = {}
  for _, name in ipairs(file.list(loader.home .. "/lua/policies") or {}) do
    slots[#slots + 1] = name
  end
  local near = names.nearest(slot, slots)
  return refuse("usage", string.format("there is no slot '%s'", slot), near
    and string.format("did you mean --slot %s?", near) or "slots: " .. table.concat(slots, ", "))
end

local function policy_files(files, options)
  local slot = options.slot or TAUGHT
  if not is_slot(slot) then return unknown_slot(slot) end
  if slot == TAUGHT and not options.from then return files, nil, slot end
  local choice, err = choice_of(slot, options.from)
  if not choice then return nil, err end
  local out = copied(slot, choice)
  for _, one in ipairs(files) do
    if not one.path:find "^policies/" then out[#out + 1] = one end
  end
  return out, nil, slot
end

----------------------------------------------------------------------------- whole

local function check_kind(kind)
  for _, known in ipairs(M.KINDS) do
    if known == kind then return true end
  end
  local near = kind and names.nearest(kind, M.KINDS)
  return refuse("usage", kind and string.format("'%s' cannot be made", kind) or "make what?",
    near and string.format("did you mean `skillopt new %s`?", near)
      or "one of " .. table.concat(M.KINDS, ", "))
end

local function check_name(kind, name)
  if not name then
    return refuse("usage", "which name?", string.format("skillopt new %s NAME", kind))
  end
  if not name:find "^[a-z][a-z0-9_]*$" or #name > LONGEST then
    return refuse("usage", string.format("'%s' is no name", name), string.format(
      "lower-case letters, digits and _, a letter first, at most %d", LONGEST))
  end
  if RESERVED[name] then
    return refuse("usage", string.format("'%s' is a name of the program's own", name),
      "choose another name")
  end
  if file.exists(name) then
    return refuse("usage", string.format("%s is there already, and nothing is overwritten", name),
      "choose another name, or remove it")
  end
  if kind == "env" and file.kind(loader.home .. "/lua/envs/" .. name) == "folder" then
    return refuse("usage", string.format("an environment '%s' is installed", name),
      "choose another name")
  end
  return true
end

--- Write the folder `./NAME`.
---@param kind string one of KINDS
---@param name string
---@param options {slot: string?, from: string?} for a policy
---@return string[]? paths of what was written
---@return skillopt.Err? err
function M.write(kind, name, options)
  local ok, err = check_kind(kind)
  if ok then ok, err = check_name(kind, name) end
  if not ok then return nil, err end
  local files, slot = files_below(loader.home .. "/lua/templates/" .. kind, "", {}), TAUGHT
  if kind == "policy" then files, err, slot = policy_files(files, options)
  elseif options.slot or options.from then
    return refuse("usage", "--slot and --from are for a policy")
  end
  if not files then return nil, err end
  local paths = {}
  for i, one in ipairs(filled(files, { NAME = name, SLOT = slot })) do
    paths[i] = name .. "/" .. one.path
    ok, err = file.mkdir(paths[i]:match "^(.*)/")
    if ok then ok, err = file.write(paths[i], one.text) end
    if not ok then return nil, err end
  end
  table.sort(paths)
  return paths
end

return M
