--- A place to call `ctx` from: a journal in memory, scripted models, nothing written.
local core = require "rt.task"
local ctx_of = require "skillopt.ctx"
local effect = require "skillopt.effect"
local journal = require "rt.journal"
local json = require "rt.json"
local loader = require "skillopt.loader"
local task = require "skillopt.task"

local M = {}

--- What a scripted endpoint answers for an entry: a text, or fields of a reply, or
--- `{error = {...}}` (an answer that is an error), or `{raise = {...}}` (weather).
local function answer_of(entry)
  if type(entry) == "string" then entry = { text = entry } end
  if entry.raise then error(entry.raise, 0) end
  if entry.error then return { value = { error = entry.error } } end
  local usage = { prompt_tokens = 1, completion_tokens = 1 }
  return { usage = usage, value = { text = entry.text or "", finish = entry.finish or "stop",
    outcome = entry.outcome or "ok", reasoning = entry.reasoning, usage = usage,
    tool_calls = entry.tool_calls or json.array {} } }
end

local function endpoint(place, role)
  return {
    role = role, provider = "scripted", model = "scripted", max_tokens = 1000,
    params = function(_, wanted) return wanted end,
    ask = function(_, request, options)
      local sent = place.sent
      sent[#sent + 1] = { request = request, role = role, stage = options.stage,
        timeout_s = options.timeout_s }
      return answer_of(place.script[#sent] or error("the script has no reply " .. #sent, 0))
    end,
  }
end

--- A place whose models give the replies of `script` in order; `place.sent` notes the
--- requests, `place.logged` the log, `place.run.recorded` the decisions.
---@param script table[] see answer_of
---@param more table? fields of the place
---@return table place
function M.place(script, more)
  local place = { script = script, sent = {}, logged = {}, kind = "rollout", role = "target",
    stage = "rollout", item = {}, prompt_folders = {}, opt = {} }
  for k, v in pairs(more or {}) do place[k] = v end
  if place.kind ~= "rollout" then place.item = nil end
  local recorded = {}
  place.run = {
    effects = effect.new { journal = assert(journal.open()) }, tally = function() end,
      recorded = recorded,
    log = function(event) place.logged[#place.logged + 1] = event end,
    record = function(name, value) recorded[#recorded + 1] = { name = name, value = value } end,
    endpoint = function(role) return endpoint(place, role) end,
    library_prompts = loader.home .. "/lua/skillopt",
  }
  return place
end

--- A policy's place: the optimizer answers.
---@param script table[]
---@param more table?
---@return table place
function M.policy(script, more)
  local place = M.place(script, { kind = "policy", role = "optimizer", stage = "analyst" })
  for k, v in pairs(more or {}) do place[k] = v end
  return place
end

--- Run `f(ctx)` as a task that works at the place.
---@async
---@param place table
---@param f fun(ctx: skillopt.Ctx): any
---@return any ...
function M.at(place, f)
  local out = {}
  core.spawn("scene", out, 0, function()
    task.set_place(place)
    return f(ctx_of.new())
  end)
  core.join(0)
  return table.unpack(out, 1, out.n or 0)
end

--- The error that `f(ctx)` raises at the place.
---@async
function M.error_at(place, f)
  local ok, err = pcall(M.at, place, f)
  if ok then error("nothing was raised", 2) end
  return err
end

--- A tool call as a model makes it.
---@param id string?
---@param name string
---@param arguments string|table
---@return table
function M.call(id, name, arguments)
  return { id = id, name = name, arguments = arguments }
end

--- Texts of the messages of one request, as `role: text`.
---@param sent table
---@return string[]
function M.messages(sent)
  local out = {}
  for i, message in ipairs(sent.request.messages) do
    local parts = {}
    for k, part in ipairs(message.content) do parts[k] = part.text or "(image)" end
    out[i] = message.role .. ": " .. table.concat(parts, "|")
  end
  return out
end

return M
