--- What each source of configuration says, weakest source first.
---
--- A layer is one file, the experiment, the environment or the command line; its
--- statements are `{ name, word, value, origin, nothing }`: `word` is how the name was
--- written, `nothing` marks an empty text and null, which say nothing. A section without
--- content does not wipe what lies below.
local json = require "rt.json"
local schema = require "skillopt.schema"
local dotenv = require "skillopt.config.dotenv"
local files = require "skillopt.config.files"
local experiment = require "skillopt.experiment"

local M = {}

--- Sources from weak to strong; built-in defaults are weaker than all.
M.RANK = { shipped = 1, dotenv = 2, environment = 3, user = 4, experiment = 5,
  ["command line"] = 6 }

local DEFAULTS <const> = "_base_/default.yaml"

local function says_nothing(value)
  return value == nil or value == json.null or value == ""
end

local function is_map(value)
  return type(value) == "table" and #value == 0
end

--- One value of a file; a policy's table is its name and its options.
local function state(layer, keys, value)
  local name = table.concat(keys, ".")
  local origin = layer.place(keys)
  local function add(under, what)
    layer.statements[#layer.statements + 1] =
      { name = under, word = under, value = what, origin = origin,
        nothing = says_nothing(what) }
  end
  if keys[1] ~= "policy" or type(value) ~= "table" or value.is_policy then
    return add(name, value)
  end
  for option, content in pairs(value) do
    if option == 1 or option == "name" then
      add(name, content)
    else
      add(name .. "." .. tostring(option), content)
    end
  end
end

local function read_entry(layer, name, value, fault)
  if name == layer.base_name then return end
  if type(name) ~= "string" then return fault(layer.place {}, "values need names") end
  if not schema.SECTIONS[name] or name == "env" and type(value) ~= "table" then
    return state(layer, { name }, value)
  end
  if is_map(value) then
    for key, content in pairs(value) do state(layer, { name, tostring(key) }, content) end
  elseif not says_nothing(value) then
    fault(layer.place { name }, "%s is a section: expected keys and values in it", name)
  end
end

--- Statements of a file's tree.
local function read_tree(layer, fault)
  layer.statements = {}
  for name, value in pairs(layer.tree) do read_entry(layer, name, value, fault) end
end

--- Layer of the variables that the schema knows.
local function variables(kind, get, title)
  local layer = { kind = kind, statements = {} }
  for _, key in ipairs(schema.core.list) do
    for _, name in ipairs(key.env or {}) do
      local value = get(name)
      if not says_nothing(value) then
        layer.statements[#layer.statements + 1] = { name = key.name, word = key.name,
          value = value, origin = title .. " " .. name }
        break
      end
    end
  end
  layer.get = get
  return layer
end

local function from_dotenv(text, fault)
  local known, faults = dotenv.parse(text or "")
  for _, f in ipairs(faults) do fault(".env:" .. f.line, "%s", f.words) end
  return variables("dotenv", function(name) return known[name] end, ".env")
end

local function from_experiment(request)
  local lines = experiment.lines(request.source or request.read(request.file) or "")
  local name = files.shipped_name(request.file, request)
  return {
    kind = "experiment", tree = request.table, base_name = "base", shipped_name = name,
    place = function(keys)
      local line = lines[table.concat(keys, ".")] or lines[keys[1]]
      return (name or request.file) .. (line and ":" .. line or "")
    end,
  }
end

local function from_arguments(assignments)
  local layer = { kind = "command line", statements = {} }
  for _, a in ipairs(assignments or {}) do
    layer.statements[#layer.statements + 1] = { name = a.name, word = a.from,
      value = a.value, origin = "command line", nothing = says_nothing(a.value) }
  end
  return layer
end

--- The YAML layers of the request: those of its file, or of the experiment's base.
local function file_layers(request)
  local base = request.table and request.table.base
  if base ~= nil and type(base) ~= "string" then
    return nil, { kind = "config", message = request.file .. ": base must be one path" }
  end
  if base and base ~= "" then return files.base(base, request.file, request) end
  if not request.file or request.table then return {} end
  local text, err = request.read(request.file)
  if not text then return nil, err end
  return files.layers(request.file, text, request)
end

--- The same, standing on the shipped defaults.
local function yaml_layers(request)
  local layers, err = file_layers(request)
  if not layers then return nil, err end
  local lowest = layers[1] and layers[1].shipped_name
  if request.configs and lowest ~= DEFAULTS then
    local below
    below, err = files.base(DEFAULTS, request.configs .. "/", request)
    if not below then return nil, err end
    layers = table.move(layers, 1, #layers, #below + 1, below)
  end
  for _, layer in ipairs(layers) do layer.base_name = "_base_" end
  return layers
end

--- All layers, weakest first; each has `rank` and its place, `order`.
---@param request table as config.resolve takes it
---@param fault fun(origin: string, form: string, ...: any)
---@return table[]? layers
---@return skillopt.Err? err
function M.collect(request, fault)
  local layers, err = yaml_layers(request)
  if not layers then return nil, err end
  if request.table then layers[#layers + 1] = from_experiment(request) end
  for _, layer in ipairs(layers) do read_tree(layer, fault) end
  layers[#layers + 1] = from_dotenv(request.dotenv, fault)
  local env = request.env or function() end
  layers[#layers + 1] = variables("environment", env, "environment")
  layers[#layers + 1] = from_arguments(request.args)
  local order = {}
  for i, layer in ipairs(layers) do order[layer] = M.RANK[layer.kind] * 1000 + i end
  table.sort(layers, function(a, b) return order[a] < order[b] end)
  for i, layer in ipairs(layers) do layer.order, layer.rank = i, M.RANK[layer.kind] end
  return layers
end

return M
