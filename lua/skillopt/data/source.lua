--- What an environment says about its data: `data.lua` in its folder.
---
--- The file is of the users' world: a table with functions that only compute. What it may
--- have is the class below; the library downloads, unpacks, lists and reads for it.
local env_of = require "skillopt.env"
local loader = require "skillopt.loader"
local file = require "rt.file"

local M = {}

---@class skillopt.DataSource
---@field title string
---@field terms string licence or rules of access
---@field root fun(): string where the data is on this machine
---@field variable string the variable that says so
---@field archives {name: string, url: string, sha256: string}[] ZIP files, in this order
---@field wanted fun(name: string, has: fun(path: string): boolean): string? where an entry
---       of an archive goes, below the root
---@field parts {name: string, folder: string, count: integer}[] folders, and how many files
---       count in each
---@field file string name of such a file
---@field counts fun(path: string, bytes: string): boolean
---@field prove fun(path: string, bytes: string, options: {solve: boolean}): boolean, string?
---@field splits table<string, {part: string, count: integer}>
---@field item fun(path: string): table the item of a file, without its id
---@field path fun(item: table): string? the file of an item, below the root

--- The data source of an environment.
---@param name string
---@return skillopt.DataSource
function M.load(name)
  local _, folder = env_of.load(name, { "." })
  local path = folder .. "/data.lua"
  if loader.exists(path) then return loader.user_file(path) end
  error({ kind = "usage", retry = false,
    message = ("the environment %s has no data that could be fetched"):format(name) }, 0)
end

--- Every file of a part that has the right name, as paths below the root, in order.
---@param source skillopt.DataSource
---@param root string
---@param part table
---@return string[]
function M.files(source, root, part)
  local out = {}
  local function collect(folder)
    for _, name in ipairs(file.list(root .. "/" .. folder) or {}) do
      local path = folder .. "/" .. name
      if name == source.file then
        out[#out + 1] = path
      elseif file.kind(root .. "/" .. path) == "folder" then
        collect(path)
      end
    end
  end
  collect(part.folder)
  return out
end

--- The files of a part that count.
---@param source skillopt.DataSource
---@param root string
---@param part table
---@return string[]
function M.counted(source, root, part)
  local out = {}
  for _, path in ipairs(M.files(source, root, part)) do
    local bytes = file.read(root .. "/" .. path)
    if bytes and source.counts(path, bytes) then out[#out + 1] = path end
  end
  return out
end

return M
