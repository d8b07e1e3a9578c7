--- A run as its journal holds it: command, configuration, sources, data, skills. Enough to
--- compute it again, or to evaluate with its configuration, on any machine.
local columns = require "rt.columns"
local config_of = require "skillopt.config"
local digest = require "rt.digest"
local file = require "rt.file"
local folder_of = require "skillopt.run.folder"
local identity = require "skillopt.run.identity"
local journal = require "rt.journal"
local json = require "rt.json"
local lists = require "skillopt.lists"
local loader = require "skillopt.loader"
local lock = require "rt.lock"
local opening = require "skillopt.config.open"

local M = {}

---@class skillopt.Stored
---@field path string the run's folder
---@field journal rt.Journal read-only
---@field known table the identity it was last opened with
---@field invocation {file: string, values: table<string, string>, world: string[]?, asked: table?}
---@field file string the configuration's file, as if it lay in the run's folder
local Stored = {}
Stored.__index = Stored

local function read_json(j, n)
  local bytes, err = j:read(n)
  if not bytes then error(err, 0) end
  return json.decode(bytes)
end

local function need(j, kind, slot, key, what)
  local n = j:find(kind, slot, key)
  if n then return n end
  error({ kind = "io", message = "the journal holds no " .. what, retry = false,
    hint = "the run was stopped before it began" }, 0)
end

--- Open the run in a folder to read it; raises when there is none or somebody works there.
---@param path string
---@param opt {accept_loss: boolean?}?
---@return skillopt.Stored
function M.open(path, opt)
  if not folder_of.has_journal(path) then
    error({ kind = "io", message = path .. " holds no run (there is no journal.db)",
      retry = false }, 0)
  end
  local held, lock_err = lock.acquire(path .. "/run.lock", { shared = true })
  if not held then error(lock_err, 0) end
  local j, err = journal.open(path .. "/journal.db",
    { read_only = true, accept_loss = opt and opt.accept_loss })
  if not j then error(err, 0) end
  local invocation = read_json(j, need(j, "open", "", "invocation", "command"))
  return setmetatable({ path = path, journal = j, lock = held, invocation = invocation,
    known = read_json(j, need(j, "open", "", "identity", "identity")),
    file = path .. "/" .. invocation.file:match "[^/]*$" }, Stored)
end

--- Give the folder back.
function Stored:close()
  self.journal:close()
  self.lock:release()
end

--- What is kept under its own digest, and still has it.
local function genuine(j, n, id, what)
  local bytes, err = j:read(n)
  if not bytes then error(err, 0) end
  if digest.sha256(bytes) == id then return bytes end
  error({ kind = "io", retry = false,
    message = string.format("the %s in the journal is not the one the run used", what),
    hint = "the journal was changed; restore it from a copy" }, 0)
end

--- Have the loader read the run's sources in place of what lies on the disk.
function Stored:use_sources()
  local texts, j = {}, self.journal
  for name, id in pairs(self.known.sources) do
    local what = "source " .. name
    texts[identity.source_path(name, self.path)] = genuine(j, need(j, "source", name, id, what),
      id, what)
  end
  loader.set_overlay(texts)
end

--- Read a configuration file; it is one of the sources.
local function read(path)
  local text, err = loader.read(path)
  if text then loader.add_source(path, text) end
  return text, err
end

--- The configuration that the run's files give with these arguments on top; raises when
--- something is wrong. `use_sources` comes first.
---@param opt {args: skillopt.Assignment[], env: (fun(name: string): string?)?, dotenv: string?, roles: string[]?}
---@return skillopt.Config
function Stored:configuration(opt)
  local path, folders = self.file, opening.folders(self.file)
  loader.set_search(folders)
  local config, err = config_of.resolve {
    file = path, args = opt.args, read = read, configs = opening.configs(),
    env = opt.env or function() end, dotenv = opt.dotenv, cwd = file.absolute ".",
    load = opening.loader(folders), source = loader.read(path), roles = opt.roles,
    table = path:find "%.lua$" and loader.user_file(path) or nil,
  }
  if not config then error(err, 0) end
  return config
end

--- Digests of a split's items, in order, and the rows that hold them, all looked at.
local function stored_keys(j, split, count)
  local keys, rows, part = columns.texts(), columns.numbers(), 0
  while #keys < count do
    part = part + 1
    local bytes, err = j:read(need(j, "value", split, "items:" .. part, "items of " .. split))
    if not bytes then error(err, 0) end
    for id in bytes:gmatch "[^\n]+" do
      local what = "item " .. id
      local n = need(j, "item", "", id, what)
      genuine(j, n, id, what)
      keys:add(id)
      rows:add(n)
    end
  end
  return keys, rows
end

--- The items by split, each read from the journal when it is used, and their digests.
---@return table<string, table[]> data
---@return table<string, rt.Texts> keys
function Stored:data()
  local j, data, all = self.journal, {}, {}
  for split, count in pairs(read_json(j, need(j, "value", "", "items", "items"))) do
    local keys, rows = stored_keys(j, split, count)
    all[split] = keys
    data[split] = lists.lazy(#keys, function(i) return read_json(j, rows[i]) end)
  end
  return data, all
end

--- The text of a skill that the run began with.
---@param id string its SHA-256
---@param what string for messages
---@return string
function Stored:skill(id, what)
  return genuine(self.journal, need(self.journal, "source", "", "skill:" .. id, what), id, what)
end

--- Has it gone to its end?
---@return boolean
function Stored:has_ended()
  return folder_of.has_ended(self.journal)
end

return M
