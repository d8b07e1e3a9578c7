--- YAML files and the files they stand on.
---
--- `_base_` is looked up beside the file that names it, then in the shipped configs. A
--- file is shipped when it lies there; all others are the user's.
local yaml = require "rt.yaml"
local json = require "rt.json"

local M = {}

--- A path without `.`, `..` behind a folder, and doubled slashes.
---@param path string
---@return string
function M.clean(path)
  local parts = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." and #parts > 0 and parts[#parts] ~= ".." then
      parts[#parts] = nil
    elseif part ~= "." and not (part == ".." and path:find "^/") then
      parts[#parts + 1] = part
    end
  end
  return (path:find "^/" and "/" or "") .. table.concat(parts, "/")
end

local function folder_of(path)
  return path:match "^(.*/)[^/]*$" or ""
end

--- Where `name`, named in the file `from`, may lie.
local function places(name, from, configs)
  if name:find "^/" then return { M.clean(name) } end
  local paths = { M.clean(folder_of(from) .. name) }
  if configs then
    local inside = M.clean(name)
    while inside:find "^%.%./" do inside = inside:sub(4) end
    paths[2] = M.clean(configs .. "/" .. inside)
  end
  return paths
end

local function config_error(form, ...)
  return { kind = "config", message = string.format(form, ...), retry = false }
end

--- The text of `name` and the path it was found at.
local function find(name, from, request)
  local tried = places(name, from, request.configs)
  for i, path in ipairs(tried) do
    if path ~= tried[i - 1] then
      local text = request.read(path)
      if text then return text, path end
    end
  end
  return nil, config_error("%s: the base %s is not there (looked for %s)", from, name,
    table.concat(tried, ", "))
end

local function decode(path, text)
  local tree, lines = yaml.decode(text, { name = path })
  if tree == nil then return nil, config_error("%s", lines.message) end
  if tree == json.null then return json.object {}, {} end
  if type(tree) ~= "table" or json.is_array(tree) and next(tree) ~= nil then
    return nil, config_error("%s: expected names and values, as `train: ...`", path)
  end
  return tree, lines
end

local function absolute(path, request)
  if path:find "^/" or not request.cwd then return M.clean(path) end
  return M.clean(request.cwd .. "/" .. path)
end

--- The file's name within the shipped configs, nil when it is not one of them.
---@param path string
---@param request {configs: string?, cwd: string?}
---@return string?
function M.shipped_name(path, request)
  if not request.configs then return nil end
  local root, full = absolute(request.configs, request) .. "/", absolute(path, request)
  if full:sub(1, #root) == root then return full:sub(#root + 1) end
end

local function layer(path, tree, lines, request)
  local name = M.shipped_name(path, request)
  return {
    kind = name and "shipped" or "user", tree = tree, shipped_name = name,
    place = function(keys)
      local line = lines[table.concat(keys, ".")]
      return (name or path) .. (line and ":" .. line or "")
    end,
  }
end

--- Layers of a YAML file, its base first.
---@param path string
---@param text string
---@param request {read: (fun(path: string): string?), configs: string?, cwd: string?}
---@return table[]? layers
---@return skillopt.Err? err
function M.layers(path, text, request)
  local layers, seen = {}, {}
  path = M.clean(path)
  while true do
    local full = absolute(path, request)
    if seen[full] then return nil, config_error("%s: the bases are circular", path) end
    seen[full] = true
    local tree, lines = decode(path, text)
    if not tree then return nil, lines end
    table.insert(layers, 1, layer(path, tree, lines, request))
    local base = tree._base_
    if base == nil or base == json.null or base == "" then return layers end
    if type(base) ~= "string" then
      return nil, config_error("%s: _base_ must be one path", path)
    end
    local from = path
    text, path = find(base, from, request)
    if not text then return nil, path end
  end
end

--- Layers of the file that an experiment or the program itself stands on.
---@param name string
---@param from string the file that names it
---@param request table
---@return table[]? layers
---@return skillopt.Err? err
function M.base(name, from, request)
  local text, path = find(name, from, request)
  if not text then return nil, path end
  return M.layers(path, text, request)
end

return M
