--- Is the data there, all of it, and usable?
local dataset = require "skillopt.dataset"
local source_of = require "skillopt.data.source"
local file = require "rt.file"

local M = {}

--- Problems named; the rest is counted.
local SHOWN <const> = 50

--- Count the files of every part; one line a part.
---@param source skillopt.DataSource
---@param root string
---@param say fun(line: string)
---@return boolean complete every part has as many as it should
---@return string[] paths all that count
function M.count(source, root, say)
  local complete, paths = true, {}
  for _, part in ipairs(source.parts) do
    local found = source_of.counted(source, root, part)
    complete = complete and #found == part.count
    say(("%s: %d of %d"):format(part.name, #found, part.count))
    table.move(found, 1, #found, #paths + 1, paths)
  end
  return complete, paths
end

--- Items of a split folder with the split's name.
local function items_of(folder)
  local splits, err = dataset.load { split_mode = "split_dir", split_dir = folder }
  if not splits then return nil, err end
  local out = {}
  for _, split in ipairs(dataset.SPLITS) do
    for i, item in ipairs(splits[split]) do
      out[#out + 1] = { split = split, index = i, item = item }
    end
  end
  return out
end

--- What is wrong with the items of a split folder, and the files they name.
---@param source skillopt.DataSource
---@param root string
---@param folder string
---@return string[]? paths
---@return string[]|skillopt.Err problems
function M.manifest(source, root, folder)
  local entries, err = items_of(folder)
  if not entries then return nil, err end
  local paths, problems, seen = {}, {}, {}
  for _, entry in ipairs(entries) do
    local path = type(entry.item) == "table" and source.path(entry.item)
    local where = ("%s item %d"):format(entry.split, entry.index)
    if type(path) ~= "string" or path == "" then
      problems[#problems + 1] = where .. " names no file"
    elseif file.kind(root .. "/" .. path) ~= "file" then
      problems[#problems + 1] = ("%s: %s is missing"):format(where, path)
    elseif seen[path] then
      problems[#problems + 1] = ("%s: %s is also %s"):format(where, path, seen[path])
    else
      seen[path], paths[#paths + 1] = where, path
    end
  end
  return paths, problems
end

--- Open every file; solve it when asked to. What is wrong, in words.
---@param source skillopt.DataSource
---@param root string
---@param paths string[]
---@param options {solve: boolean}
---@return string[] problems
function M.prove(source, root, paths, options)
  local problems = {}
  for _, path in ipairs(paths) do
    local bytes, err = file.read(root .. "/" .. path)
    local ok, why = false, err and err.message
    if bytes then ok, why = source.prove(path, bytes, options) end
    if not ok then problems[#problems + 1] = why end
  end
  return problems
end

--- Problems as one error.
---@param problems string[]
---@return skillopt.Err
function M.refusal(problems)
  local lines = table.move(problems, 1, math.min(#problems, SHOWN), 1, {})
  if #problems > SHOWN then lines[#lines + 1] = ("... and %d more"):format(#problems - SHOWN) end
  return { kind = "data", retry = false, message = ("%d problem%s:\n  %s"):format(#problems,
    #problems == 1 and "" or "s", table.concat(lines, "\n  ")) }
end

return M
