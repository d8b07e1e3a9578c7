--- A run computed again from what its journal holds: sources, configuration, data,
--- answers. Nothing is asked of the world, so it works on a stranger's machine.
local config_of = require "skillopt.config"
local file = require "rt.file"
local identity = require "skillopt.run.identity"
local journal = require "rt.journal"
local json = require "rt.json"
local loader = require "skillopt.loader"
local lock = require "rt.lock"
local opening = require "skillopt.config.open"
local run_of = require "skillopt.run"

local M = {}

-- Files that hold fields which may differ, or the machine's own facts.
local NOT_COMPARED = {
  ["run.json"] = true, ["config.json"] = true, ["history.json"] = true, ["summary.json"] = true,
}

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

--- The sources the run was last opened with, by path on this machine.
local function overlay(j, known, folder)
  local texts = {}
  for name, id in pairs(known.sources) do
    local text = assert(j:read(need(j, "source", name, id, "source " .. name)))
    texts[identity.source_path(name, folder)] = text
  end
  return texts
end

local function stored_data(j)
  local splits = read_json(j, need(j, "value", "", "data", "data"))
  local data = {}
  for split, ids in pairs(splits) do
    data[split] = {}
    for i, id in ipairs(ids) do data[split][i] = read_json(j, need(j, "item", "", id, "item " .. id)) end
  end
  return data
end

--- The configuration of the run: its files from the journal, its values on top.
local function configuration(invocation, path)
  local assignments = {}
  for name, value in pairs(invocation.values) do
    assignments[#assignments + 1] = { name = name, value = value, from = name .. " (as the run had it)" }
  end
  loader.set_search(opening.folders(path))
  local config, err = config_of.resolve {
    file = path, args = assignments, read = loader.read, configs = opening.configs(),
    env = function() end, cwd = file.absolute ".", load = opening.loader(opening.folders(path)),
    table = path:find "%.lua$" and loader.user_file(path) or nil, source = loader.read(path),
  }
  if not config then error(err, 0) end
  return config
end

--- What the program computes must be what lies in the folder.
local function comparer(path, seen)
  return function(name, text)
    seen.files = seen.files + 1
    if NOT_COMPARED[name] or name:find "step_record%.json$" then return end
    local there = file.read(path .. "/" .. name)
    if there == nil or there == text then return end
    error({ kind = "io", differs = true, message = string.format("%s/%s differs from what the journal "
      .. "gives", path, name), hint = "`skillopt replay` without --verify writes the files anew",
      retry = false }, 0)
  end
end

local function prepare(j, path, invocation, known)
  local at = path .. "/" .. (invocation.file:match "[^/]*$")
  loader.set_overlay(overlay(j, known, path))
  local skill = assert(j:read(need(j, "source", "", "skill:" .. known.skill, "initial skill")))
  return run_of.prepare {
    config = configuration(invocation, at), file = at, folders = opening.folders(at),
    load = opening.loader(opening.folders(at)), stored = { data = stored_data(j), skill = skill },
  }
end

local function outcome_of(run, ok, err, ended)
  local counts = run.effects.counts
  local facts = string.format("%d answers, %d decisions", counts.stored, run.decisions_compared())
  if ok then return { ok = true, text = "equal: " .. facts } end
  if type(err) == "table" and err.at_end and not ended then
    return { ok = true, text = string.format("equal as far as the journal goes (%s): %s", facts, err.message) }
  end
  error(err, 0)
end

--- Replay the run in `path`. With `verify` or `shuffle` nothing is written: what is
--- computed is compared with the decisions on record and with the files.
---@async
---@param path string
---@param opt {verify: boolean?, shuffle: integer?, accept_loss: boolean?}
---@return {ok: boolean, text: string}
function M.run(path, opt)
  if file.kind(path .. "/journal.db") ~= "file" then
    error({ kind = "io", message = path .. " holds no run (there is no journal.db)", retry = false }, 0)
  end
  local held, lock_err = lock.acquire(path .. "/run.lock", { shared = true })
  if not held then error(lock_err, 0) end
  local j, err = journal.open(path .. "/journal.db", { read_only = true, accept_loss = opt.accept_loss })
  if not j then error(err, 0) end
  local known = read_json(j, need(j, "open", "", "identity", "identity"))
  local invocation = read_json(j, need(j, "open", "", "invocation", "command"))
  local run = prepare(j, path, invocation, known)
  local looks = opt.verify or opt.shuffle
  run_of.attach(run, { journal = j, path = path, is_replay = true, disorder = opt.shuffle, quiet = true,
    compare = looks and comparer(path, { files = 0 }) or nil })
  local ended = j:find("value", "", "end") ~= nil
  local ok, why = xpcall(run_of.train, function(e)
    return type(e) == "string" and { kind = "bug", message = e, traceback = debug.traceback("", 2) } or e
  end, run)
  j:close()
  return outcome_of(run, ok, why, ended)
end

return M
