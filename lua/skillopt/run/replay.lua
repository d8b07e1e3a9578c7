--- A run computed again from what its journal holds: sources, configuration, data,
--- answers. Nothing is asked of the world, so it works on a stranger's machine.
local digest = require "rt.digest"
local evaluation_of = require "skillopt.run.evaluation"
local file = require "rt.file"
local inputs = require "skillopt.run.inputs"
local opening = require "skillopt.config.open"
local run_of = require "skillopt.run"
local sameness = require "skillopt.run.sameness"
local stored_of = require "skillopt.run.stored"

local M = {}

--- Fields of an outcome, in the order they are written in.
M.FIELDS = { "ok", "complete", "answers", "decisions", "text" }

--- The configuration of the run: its files from the journal, its values on top.
local function configuration(stored)
  local args = {}
  for name, value in pairs(stored.invocation.values) do
    args[#args + 1] = { name = name, value = value, from = name .. " (as the run had it)" }
  end
  return stored:configuration { args = args,
    roles = stored.known.kind and evaluation_of.ROLES or nil }
end

--- Bytes of a file read at once.
local PIECE <const> = 1 << 20

--- Digest of a file, nil when it is not there.
local function digest_of(path)
  local stream, at = digest.stream(), 0
  while true do
    local piece = file.read_part(path, at, PIECE)
    if not piece then return nil end
    if piece == "" then return stream:hex() end
    stream:add(piece)
    at = at + #piece
  end
end

--- What must be the same in a file of the run, nil when it is not there: its digest, or its
--- text without the facts.
local function found(path, name)
  if not sameness.has_facts(name) then return digest_of(path .. "/" .. name) end
  local text = file.read(path .. "/" .. name)
  return text and sameness.normal(name, text, true)
end

--- Notes what the program writes; at the end each file must be what it wrote last.
local function comparer(path)
  local last = {}
  local function note(name, id, text) last[name] = sameness.has_facts(name) and text or id end
  local function finish()
    for name, want in pairs(last) do
      local there = found(path, name)
      if sameness.has_facts(name) then want = sameness.normal(name, want, true) end
      if there ~= want then
        error({ kind = "io", retry = false,
          message = string.format("%s/%s is %s", path, name,
            there and "not what the journal gives" or "not there"),
          hint = "`skillopt replay` without --verify writes the files anew" }, 0)
      end
    end
  end
  return note, finish
end

local function prepare(stored)
  stored:use_sources()
  local known, at = stored.known, stored.file
  local program = known.kind and evaluation_of.again(stored) or nil
  local data, keys = stored:data()
  return run_of.prepare {
    config = configuration(stored), file = at, folders = opening.folders(at),
    load = opening.loader(opening.folders(at)), program = program,
    stored = { data = data, keys = keys,
      skill = not program and stored:skill(known.skill, "initial skill") or "" },
  }
end

local function outcome_of(run, ok, err, ended)
  local out = { ok = true, complete = ok, answers = run.effects.counts.stored,
    decisions = run.decisions_compared() }
  local facts = string.format("%d answers, %d decisions", out.answers, out.decisions)
  out.text = "equal: " .. facts
  if ok then return out end
  if type(err) == "table" and err.at_end and not ended then
    out.text = string.format("equal as far as the journal goes (%s): %s", facts, err.message)
    return out
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
---@return {ok: boolean, complete: boolean, answers: integer, decisions: integer, text: string}
function M.run(path, opt)
  local stored = stored_of.open(path, { accept_loss = opt.accept_loss })
  local run = prepare(stored)
  local note, finish = comparer(path)
  local looks = opt.verify or opt.shuffle
  run_of.attach(run, { journal = stored.journal, path = path, is_replay = true,
    disorder = opt.shuffle, quiet = true, compare = looks and note or nil })
  local ended = stored:has_ended()
  local ok, why = xpcall(run_of.train, with_traceback, run)
  stored:close()
  if ok and looks then
    inputs.write_card(run)
    finish()
  end
  return outcome_of(run, ok, why, ended)
end

return M
