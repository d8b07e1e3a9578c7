--- One message to a model, outside of any run: through the endpoint, limits and retries a
--- run would use, over a journal in memory.
local chat = require "skillopt.chat"
local config_of = require "skillopt.config"
local core = require "rt.task"
local journal = require "rt.journal"
local json = require "rt.json"
local opening = require "skillopt.config.open"
local options = require "skillopt.options"
local run_of = require "skillopt.run"
local task = require "skillopt.task"

local M = {}

--- Options of `ask` beside those of a call.
local OWN <const> = { backend = true, model = true, config = true, settings = true }

local KNOWN = {}
for name in pairs(chat.OPTIONS) do KNOWN[name] = true end
for name in pairs(OWN) do KNOWN[name] = true end

-- Places to call from, by configuration: endpoints and their limits are shared by calls.
local sessions = {}

--- A place whose endpoints are those of the configuration; raises when it cannot be.
---@param line {file: string?, assignments: skillopt.Assignment[]}
---@param role "target"|"optimizer"
---@return table place
---@return skillopt.Config config
function M.open(line, role)
  local request = opening.request(line)
  request.roles, request.calls = { role }, true
  local config, err = config_of.resolve(request)
  if not config then error(err, 0) end
  local run = { config = config, seed = config:get "train.seed" }
  run_of.attach(run, { journal = assert(journal.open()), quiet = true })
  return { kind = "message", run = run, role = role, stage = "chat" }, config
end

local function assignments_of(opt, role)
  local list = {}
  local function add(name, value)
    if value ~= nil then list[#list + 1] = { name = name, value = value, from = name } end
  end
  add("model." .. role .. "_backend", opt.backend)
  add("model." .. role, opt.model)
  for name, value in pairs(opt.settings or {}) do add(name, value) end
  return list
end

--- The session of a configuration, opened once.
local function session(opt, role)
  local line = { file = opt.config, assignments = assignments_of(opt, role) }
  local said = { role, line.file or "" }
  for _, a in ipairs(line.assignments) do
    said[#said + 1] = a.name .. "=" .. json.encode(a.value)
  end
  local key = table.concat(said, "\n")
  sessions[key] = sessions[key] or M.open(line, role)
  return sessions[key]
end

local count = 0

--- Call in a task of its own, whose slot is a new one: nothing of the call stays with the
--- caller's task, and no call is answered by an earlier one's reply.
---@async
local function apart(place, call)
  local out = {}
  count = count + 1
  core.spawn("message_" .. count, out, 0, chat.chat, place, call)
  core.join(0)
  return out[1]
end

--- See lua/meta/skillopt.lua.
---@async
---@param opt skillopt.MessageOptions
---@return skillopt.Reply? reply
---@return skillopt.Err? err
function M.ask(opt)
  opt = options.check(opt, KNOWN, "skillopt.chat")
  if not core.is_task() or task.place() then
    error("skillopt.chat is for scripts: in an environment or a policy it is ctx:chat", 3)
  end
  local role, call = opt.role or "target", {}
  if role ~= "target" and role ~= "optimizer" then
    error(string.format("skillopt.chat: there is no role '%s' (target or optimizer)",
      tostring(role)), 3)
  end
  if opt.user == nil and opt.messages == nil then
    error("skillopt.chat: a call needs `user` or `messages`", 3)
  end
  for name in pairs(chat.OPTIONS) do call[name] = opt[name] end
  local ok, reply = pcall(function() return apart(session(opt, role), call) end)
  if ok then return reply end
  local is_news = type(reply) == "table" and reply.kind ~= "bug" and reply.kind ~= "cancelled"
  if not is_news then error(reply, 0) end
  return nil, reply
end

return M
