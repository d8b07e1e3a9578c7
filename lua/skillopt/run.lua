--- A run: what decides it is read, its folder and journal are opened, its program does the
--- work, and its end is put on file.
local announce = require "skillopt.run.announce"
local core = require "rt.task"
local ctx = require "skillopt.ctx"
local effect = require "skillopt.effect"
local endpoints = require "skillopt.run.endpoints"
local file = require "rt.file"
local flow = require "rt.flow"
local folder_of = require "skillopt.run.folder"
local identity = require "skillopt.run.identity"
local inputs = require "skillopt.run.inputs"
local json = require "rt.json"
local live = require "skillopt.run.live"
local loader = require "skillopt.loader"
local parts = require "skillopt.run.parts"
local report = require "skillopt.run.report"
local sandbox = require "skillopt.sandbox"
local scratch = require "skillopt.scratch"
local sessions = require "skillopt.run.sessions"
local spending = require "skillopt.spending"
local tokens = require "skillopt.run.tokens"
local training = require "skillopt.run.training"
local writing = require "skillopt.run.writing"

local M = {}

--- What a run does. Training is skillopt.run.training; others are given to `prepare`.
---@class skillopt.Program
---@field slots string[] policies that are opened
---@field load fun(run: table, stored: table?) reads or takes over `run.data`, `run.item_keys` and the skills
---@field identity fun(run: table): table its parts of the identity: config, skill, kind, asked
---@field skills fun(run: table): string[] texts to keep in the journal
---@field root fun(run: table): string folder of the numbered folders
---@field out_root fun(run: table): string? a folder that was named
---@field announce fun(run: table, opened: table): {event: string, data: table, open: table?, notes: string[]?} what
---       is to come, more fields for the line about the folder, more notes
---@field perform fun(run: table) does it; `run.result` is what came of it
---@field forecast fun(run: table): {rollouts: integer, optimizer_calls: integer} at most, about

--- Read everything that decides what the run is; nothing is written or sent.
---@param options {config: skillopt.Config, file: string, folders: string[], load: function, stored: {data: table, keys: table, skill: string}?, program: skillopt.Program?}
---@return table run
function M.prepare(options)
  local run = { config = options.config, file = options.file, folders = options.folders,
    load = options.load, version = "skillopt-" .. loader.version,
    program = options.program or training.program }
  run.seed = run.config:get "train.seed"
  if not options.stored then spending.check(run.config, endpoints.models(run.config)) end
  run.library_prompts = loader.home .. "/lua/skillopt"
  run.predictions = run.config:get "evaluation.predictions" or "all"
  run.workers = run.config:get "env.workers" or 64
  run.call_timeout_s = run.config:get "env.exec_timeout"
  local item_timeout = run.config:get "env.item_timeout_s"
  run.item_timeout_s = item_timeout ~= "none" and item_timeout or nil
  parts.open_env(run)
  parts.open_policies(run)
  run.program.load(run, options.stored)
  parts.check_prompts(run)
  run.policy_prompts = function(policy) return parts.policy_prompts(run, policy) end
  run.source_list = identity.sources(run.folders[1])
  run.flat_config = run.config:flat()
  local said = run.program.identity(run)
  said.data, said.sources = parts.data_digests(run.item_keys), run.source_list
  said.version = loader.version
  run.identity = identity.of(said)
  return run
end

--- A start that has something to do is on record; a run that has ended is only shown.
local function note_start(run)
  if folder_of.has_ended(run.journal) then return end
  local ok, err = sessions.note(run.journal, flow.wall())
  if not ok then error(err, 0) end
end

--- How long this start, and all starts together, have been at work.
local function make_clock(run)
  run.started = flow.now()
  run.seconds = function() return flow.now() - run.started end
  run.total_seconds = function()
    local is_shown = run.is_replay or folder_of.has_ended(run.journal)
    return sessions.seconds(run.journal, is_shown) + run.seconds()
  end
end

--- Give a prepared run its journal and what hangs on it.
---@param run table
---@param opt {journal: table, parents: table[]?, path: string?, is_replay: boolean?, disorder: integer?, quiet: boolean?, json: boolean?, compare: (fun(name: string, digest: string))?}
function M.attach(run, opt)
  run.journal, run.path, run.is_replay = opt.journal, opt.path, opt.is_replay
  run.compare = opt.compare
  run.scratch = opt.compare and scratch() or opt.path
  if run.path and not run.compare then
    local ok, err = file.mkdir(run.path)
    if not ok then error(err, 0) end
  end
  make_clock(run)
  run.scrub = require("skillopt.secrets").scrubber(run.config:secrets())
  run.effects = effect.new { journal = opt.journal, parents = opt.parents,
    is_replay = opt.is_replay, disorder = opt.disorder, scrub = run.scrub }
  run.ctx = ctx.new()
  tokens.attach(run)
  writing.attach(run)
  run.say, run.progress, run.live = report.new { run = run, quiet = opt.quiet, json = opt.json }
  run.set_plan = function(plan) run.plan = plan end
  run.reached_end = function(slot, name)
    error({ kind = "io", at_end = true, retry = false,
      message = string.format("the journal ends before %s/%s", slot, name),
      hint = "the run was stopped there; run it again to go on" }, 0)
  end
  run.spending = spending.new(run, endpoints.models(run.config))
  endpoints.attach(run)
  sandbox.set_seed(run.seed)
end

--- The clock of a run starts when it was begun, or the run it is a fork of: a value, so
--- that it starts there again.
local function start_clock(run)
  local j, parent = run.journal, run.effects.parents[1]
  local n = j:find("value", "", "start")
  local inherited = not n and parent and parent:find("value", "", "start")
  if inherited then
    n = j:copy(parent, inherited)
  elseif not n and not run.is_replay then
    local err
    n, err = j:put("value", "", "start", json.canonical { time = math.floor(flow.wall()) })
    if not n then error(err, 0) end
  end
  if n then core.set_time(json.decode(assert(j:read(n))).time) end
end

--- Do what the run is for; then the end is put on file.
---@async
---@param run table attached
---@return table result
function M.train(run)
  start_clock(run)
  run.program.perform(run)
  run.close_events()
  if not run.is_replay and not folder_of.has_ended(run.journal) then
    local ok, err = run.journal:store("value", "", "end", json.canonical { ended = true })
    if not ok then error(err, 0) end
  end
  return run.result
end

--- What is not on file when the journal is closed was not done.
local function close(journal)
  local ok, err = journal:close()
  if not ok then error(err, 0) end
end

--- What the same command does once a file of the user's that failed is mended: its sources
--- are part of what a run is.
local function goes_on(path, is_fixed)
  if is_fixed then
    return ("the run goes on in %s, where it was, with what is on file, as long as the mended "
      .. "file decides the finished steps as they were decided"):format(path)
  end
  return "it goes on in the next folder, a fork that takes over every answer on file, so that "
    .. "nothing is paid twice"
end

--- Open the folder, go, close. What the caller asked for in `opt` is that of the command.
---@async
---@param run table prepared
---@param opt {new: boolean?, resume: string?, retry_failed: boolean?, accept_loss: boolean?, quiet: boolean?, json: boolean?, approve: fun(run: table, on_file: integer)?}
---@return table result
function M.go(run, opt)
  local program = run.program
  local root, out_root = program.root(run), program.out_root(run)
  local opened = folder_of.open {
    root = root, out_root = out_root, resume = opt.resume, new = opt.new,
    retry_failed = opt.retry_failed, accept_loss = opt.accept_loss, identity = run.identity,
    returns = run.identity.kind ~= nil,
  }
  local parents = {}
  for i, parent in ipairs(opened.parents or {}) do parents[i] = parent.journal end
  M.attach(run, { journal = opened.journal, parents = parents, path = opened.path,
    quiet = opt.quiet, json = opt.json })
  if opt.approve then opt.approve(run, announce.answers_on_file(opened)) end
  run.goes_on = goes_on(opened.path, out_root or opt.resume)
  if not out_root and not opt.resume then folder_of.link_latest(root, opened) end
  announce.say(run, opened, opt)
  local is_changed = opened.mode ~= "continue" or #(opened.soft or {}) > 0
  if is_changed or not inputs.are_stored(run.journal) then inputs.store(run) end
  note_start(run)
  run.item_keys = nil
  inputs.write_card(run)
  local ahead = program.forecast(run)
  run.calls_expected = ahead.rollouts + ahead.optimizer_calls
  local result = live.during(run.live, M.train, run)
  inputs.write_card(run) -- with what was read on the way
  close(run.journal)
  for _, parent in ipairs(parents) do close(parent) end
  return result
end

return M
