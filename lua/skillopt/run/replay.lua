--- A run computed again from what its journal holds: sources, configuration, data,
--- answers. Nothing is asked of the world, so it works on a stranger's machine.
local config_of = require "skillopt.config"
local digest = require "rt.digest"
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

--- What is kept under its own digest, and still has it.
local function genuine(j, n, id, what)
  local bytes, err = j:read(n)
  if not bytes then error(err, 0) end
  if digest.sha256(bytes) == id then return bytes end
  error({ kind = "io", retry = false,
    message = string.format("the %s in the journal is not the one the run used", what),
    hint = "the journal was changed; restore it from a copy" }, 0)
end

--- The sources the run was last opened with, by path on this machine.
local function overlay(j, known, folder)
  local texts = {}
  for name, id in pairs(known.sources) do
    local what = "source " .. name
    texts[identity.source_path(name, folder)] = genuine(j, need(j, "source", name, id, what), id,
      what)
  end
  return texts
end

local function stored_data(j)
  local splits = read_json(j, need(j, "value", "", "data", "data"))
  local data = {}
  for split, ids in pairs(splits) do
    data[split] = {}
    for i, id in ipairs(ids) do
      local what = "item " .. id
      data[split][i] = json.decode(genuine(j, need(j, "item", "", id, what), id, what))
    end
  end
  return data
end

--- The configuration of the run: its files from the journal, its values on top.
local function configuration(invocation, path)
  local assignments = {}
  for name, value in pairs(invocation.values) do
    assignments[#assignments + 1] = { name = name, value = value,
      from = name .. " (as the run had it)" }
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

--- Notes what the program writes; at the end each file must be what it wrote last.
local function comparer(path)
  local last = {}
  local function note(name, text) last[name] = digest.sha256(text) end
  local function finish()
    for name, id in pairs(last) do
      local is_compared = not NOT_COMPARED[name] and not name:find "step_record%.json$"
      local there = is_compared and file.read(path .. "/" .. name)
      if there and digest.sha256(there) ~= id then
        error({ kind = "io", retry = false,
          message = string.format("%s/%s is not what the journal gives", path, name),
          hint = "`skillopt replay` without --verify writes the files anew" }, 0)
      end
    end
  end
  return note, finish
end

local function prepare(j, path, invocation, known)
  local at = path .. "/" .. (invocation.file:match "[^/]*$")
  loader.set_overlay(overlay(j, known, path))
  local skill = genuine(j, need(j, "source", "", "skill:" .. known.skill, "initial skill"),
    known.skill, "initial skill")
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
    return { ok = true,
      text = string.format("equal as far as the journal goes (%s): %s", facts, err.message) }
  end
  error(err, 0)
end

local function with_traceback(err)
  if type(err) ~= "string" then return err end
  return { kind = "bug", message = err, traceback = debug.traceback("", 2) }
end

--- Replay the run in `path`. With `verify` or `shuffle` nothing is written: what is
--- computed is compared with the decisions on record and with the files.
---@async
---@param path string
---@param opt {verify: boolean?, shuffle: integer?, accept_loss: boolean?}
---@return {ok: boolean, text: string}
function M.run(path, opt)
  if file.kind(path .. "/journal.db") ~= "file" then
    error({ kind = "io", message = path .. " holds no run (there is no journal.db)",
      retry = false }, 0)
  end
  local held, lock_err = lock.acquire(path .. "/run.lock", { shared = true })
  if not held then error(lock_err, 0) end
  local j, err = journal.open(path .. "/journal.db",
    { read_only = true, accept_loss = opt.accept_loss })
  if not j then error(err, 0) end
  local known = read_json(j, need(j, "open", "", "identity", "identity"))
  local invocation = read_json(j, need(j, "open", "", "invocation", "command"))
  local run = prepare(j, path, invocation, known)
  local note, finish = comparer(path)
  local looks = opt.verify or opt.shuffle
  run_of.attach(run, { journal = j, path = path, is_replay = true, disorder = opt.shuffle,
    quiet = true, compare = looks and note or nil })
  local ended = j:find("value", "", "end") ~= nil
  local ok, why = xpcall(run_of.train, with_traceback, run)
  j:close()
  if ok and looks then finish() end
  return outcome_of(run, ok, why, ended)
end

return M
