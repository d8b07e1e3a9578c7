--- A run's folder in place of a configuration: what that run had is evaluated with, from
--- its journal, so that no file of it but the skill is needed.
local dotenv = require "skillopt.config.dotenv"
local evaluation_of = require "skillopt.run.evaluation"
local file = require "rt.file"
local opening = require "skillopt.config.open"
local schema = require "skillopt.schema"
local stored_of = require "skillopt.run.stored"

local M = {}

-- Keys of the run that say where it worked, not how.
local PLACE <const> = { name = true, ["env.out_root"] = true, ["env.skill_init"] = true }

-- Keys that say which items there are: given anew, the items are read anew.
local DATA <const> = { ["env.name"] = true, ["env.split_mode"] = true, ["env.split_dir"] = true,
  ["env.data_path"] = true, ["env.split_ratio"] = true, ["env.split_seed"] = true,
  ["env.limit"] = true, ["env.fix_ids"] = true }

-- What is no longer meant when a back-end is chosen anew: its model.
local FALLS <const> = {
  ["model.backend"] = { "model.target_backend", "model.target" },
  ["model.target_backend"] = { "model.target" },
}

--- Names of the keys that the command line says, and of what falls with them.
local function said_by(line)
  local said = {}
  for _, a in ipairs(line.assignments) do
    local key = schema.find(schema.core, a.name)
    local name = key and key.name or a.name
    said[name] = true
    for _, other in ipairs(FALLS[name] or {}) do said[other] = true end
  end
  return said
end

--- Does a variable of the surroundings name the key's value now?
local function is_around(name, variables)
  local key = schema.find(schema.core, name)
  for _, variable in ipairs(key and key.env or {}) do
    local value = os.getenv(variable) or variables[variable]
    if value and value ~= "" then return true end
  end
  return false
end

local function set_of(list)
  local set = {}
  for _, name in ipairs(list or {}) do set[name] = true end
  return set
end

--- The run's values, then those of the command line. A value that came from a variable
--- comes from there again, where it is set.
local function arguments(stored, line)
  local said, world = said_by(line), set_of(stored.invocation.world)
  local variables, args = dotenv.parse(file.read ".env" or ""), {}
  for name, value in pairs(stored.invocation.values) do
    local is_new = said[name] or PLACE[name] or world[name] and is_around(name, variables)
    if not is_new then
      args[#args + 1] = { name = name, value = value, from = name .. " (as the run had it)" }
    end
  end
  return table.move(line.assignments, 1, #line.assignments, #args + 1, args), said
end

local function data_of(stored, said)
  for name in pairs(said) do
    if DATA[name] then return nil end
  end
  local data, keys = stored:data()
  for split, list in pairs(data) do data[split] = table.move(list, 1, #list, 1, {}) end
  return data, keys
end

--- Name of the experiment: the folder that holds the numbered ones, else the run's own.
local function name_of(path)
  local full = file.absolute(path):gsub("/+$", "")
  return full:match "([^/]+)/%d%d%d%d+$" or full:match "[^/]+$"
end

--- What `skillopt eval RUN` works with.
---@param line skillopt.CommandLine its file is the run's folder
---@return {config: skillopt.Config, file: string, folders: string[], load: function, source: {name: string, initial: string?, data: table?, has_ended: boolean}}
function M.read(line)
  local stored = stored_of.open(line.file)
  stored:use_sources()
  local args, said = arguments(stored, line)
  local config = stored:configuration { args = args, env = os.getenv, dotenv = file.read ".env",
    roles = evaluation_of.ROLES }
  local known, folders = stored.known, opening.folders(stored.file)
  local data, keys = data_of(stored, said)
  local source = { name = name_of(line.file), data = data, keys = keys,
    has_ended = stored:has_ended(),
    initial = known.skill and stored:skill(known.skill, "initial skill") }
  stored:close()
  return { config = config, file = stored.file, folders = folders, source = source,
    load = opening.loader(folders) }
end

return M
