--- `ctx`: what environments and policies call. One facade for all: each call acts for
--- the task that makes it, through the place that task works at.
local chat = require "skillopt.chat"
local conversation = require "skillopt.conversation"
local effect = require "skillopt.effect"
local evaluate = require "skillopt.evaluate"
local options = require "skillopt.options"
local prompt = require "skillopt.prompt"
local reply_text = require "rt.reply"
local sandbox = require "skillopt.sandbox"
local task = require "skillopt.task"
local workspace = require "skillopt.workspace"

local M = {}

local Ctx = {}

local function place(what)
  local p = task.place()
  if not p then error(string.format("ctx:%s: not inside a run", what), 3) end
  return p
end

--- See lua/meta/ctx.lua.
function Ctx:chat(opt)
  return chat.chat(place "chat", opt)
end

--- See lua/meta/ctx.lua.
function Ctx:conversation(opt)
  return conversation.new(place "conversation", opt)
end

--- See lua/meta/ctx.lua.
function Ctx:agent(opt)
  return conversation.agent(place "agent", opt, self)
end

--- See lua/meta/ctx.lua.
function Ctx:run(argv, opt)
  return workspace.run(place "run", argv, opt)
end

--- See lua/meta/ctx.lua.
function Ctx:workspace()
  return workspace.new(place "workspace")
end

--- See lua/meta/ctx.lua.
function Ctx:prompt(name, inputs)
  return prompt.render(name, inputs or {}, place("prompt").prompt_folders)
end

--- See lua/meta/ctx.lua.
function Ctx:no_answer(reason)
  if place("no_answer").kind ~= "rollout" then
    error("ctx:no_answer is for rollouts", 2)
  end
  chat.no_answer(tostring(reason))
end

--- See lua/meta/ctx.lua.
function Ctx:evaluate(skill, items, opt)
  return evaluate.evaluate(place "evaluate", skill, items, opt)
end

--- See lua/meta/ctx.lua.
function Ctx:record(name, value)
  place("record").run.record(name, value)
end

--- See lua/meta/ctx.lua.
function Ctx:write(name, text)
  place("write").run.write(task.slot() .. "/" .. name, text)
end

--- See lua/meta/ctx.lua.
function Ctx:log(event)
  local line = { slot = task.slot() }
  for name, value in pairs(event) do line[name] = value end
  place("log").run.log(line)
end

--- See lua/meta/ctx.lua.
function Ctx:trace(entry)
  local item = place("trace").item
  if not item then error("ctx:trace is for rollouts", 2) end
  item.trace = item.trace or {}
  item.trace[#item.trace + 1] = entry
end

--- See lua/meta/ctx.lua.
function Ctx:scope(label, f)
  return task.scope(label, f, self)
end

--- See lua/meta/ctx.lua.
function Ctx:try(f, ...)
  local out = table.pack(pcall(f, ...))
  if out[1] then return table.unpack(out, 2, out.n) end
  local err = out[2]
  if task.is_uncatchable(err) or (type(err) == "table" and err.no_answer) then error(err, 0) end
  if type(err) ~= "table" then err = { kind = "bug", message = tostring(err), retry = false } end
  return nil, err
end

------------------------------------------------------------------------- ask

local ASK = {
  prompt = true, inputs = true, role = true, stage = true, want = true, array = true,
  max_tokens = true, reasoning_effort = true, check = true, also = true,
}

--- The parsed reply, or what is wrong with it.
local function usable(reply, opt)
  local fault = chat.unusable(reply)
  if fault == "truncated" then
    return nil, { kind = "truncated", message = "the reply was cut at the output limit" }
  end
  local value, err = reply_text.extract(reply.text, { want = opt.want, array = opt.array })
  if value == nil then return nil, err end
  if opt.check then
    local ok, why = opt.check(value)
    if not ok then
      return nil, { kind = "parse", message = why or "it does not have the shape asked for" }
    end
  end
  return value
end

local function chat_options(opt, messages, max_tokens)
  return { messages = messages, role = opt.role, stage = opt.stage, partial = true,
    max_tokens = max_tokens, reasoning_effort = opt.reasoning_effort }
end

--- Ask; nil and an error of the reply when it cannot be used.
---@async
local function ask_once(self, opt, messages, max_tokens)
  local reply, err = self:try(chat.chat, place "ask", chat_options(opt, messages, max_tokens))
  if not reply then return nil, err end
  local value, fault = usable(reply, opt)
  return value, fault, reply
end

--- Messages of the second try: the same again after a cut or refused reply, the reply
--- and its fault after an unusable one.
local function second_try(first, reply, fault, opt)
  if not reply or fault.kind == "truncated" then return first end
  local messages = table.move(first, 1, #first, 1, {})
  local words = prompt.render("repair", { fault = fault.message,
    shape = opt.want and table.concat(opt.want, ", ") or "" }, { place("ask").run.library_prompts })
  messages[#messages + 1] = reply.message
  messages[#messages + 1] = { role = "user", content = words.user }
  return messages
end

local MALFORMED = { parse = true, truncated = true, refused = true, filtered = true,
  too_long = true }

--- See lua/meta/ctx.lua.
function Ctx:ask(opt)
  options.check(opt, ASK, "ctx:ask")
  local here = place "ask"
  local filled = prompt.render(opt.prompt, opt.inputs or {}, here.prompt_folders)
  if opt.also then
    local more = prompt.render(opt.also, {}, here.prompt_folders)
    filled.system = filled.system .. "\n\n" .. more.system .. more.user
  end
  local messages = { { role = "user", content = filled.user } }
  if filled.system ~= "" then
    table.insert(messages, 1, { role = "system", content = filled.system })
  end
  local max_tokens = opt.max_tokens or here.run.endpoint(opt.role or here.role).max_tokens
  local value, fault, reply = ask_once(self, opt, messages, max_tokens)
  if value ~= nil then return value end
  if not MALFORMED[fault.kind] then error(fault, 0) end
  if fault.kind == "truncated" then max_tokens = 2 * max_tokens end
  here.run.log { event = "unusable_reply", slot = task.slot(), prompt = opt.prompt,
    kind = fault.kind, message = fault.message }
  value, fault = ask_once(self, opt, second_try(messages, reply, fault, opt), max_tokens)
  if value ~= nil then return value end
  if not MALFORMED[fault.kind] then error(fault, 0) end
  here.run.log { event = "malformed_reply", slot = task.slot(), prompt = opt.prompt,
    kind = fault.kind, message = fault.message }
  return nil, { kind = fault.kind, message = fault.message, reason = fault.reason, retry = false }
end

----------------------------------------------------------------------- fields

local Stream = {}
Stream.__index = function(stream, name)
  local inner = rawget(stream, "inner")
  return function(_, ...)
    if name == "stream" then
      return setmetatable({ inner = sandbox.stream((...)) }, Stream)
    end
    local out = inner[name](inner, ...)
    return rawequal(out, inner) and stream or out
  end
end

local FIELDS = {
  rng = function() return setmetatable({ inner = sandbox.stream() }, Stream) end,
  spent = function() return effect.spent() end,
  data = function(p) return p.kind ~= "rollout" and p.run.data or nil end,
  env = function(p)
    return p.kind ~= "rollout" and { name = p.run.env.name, prompts = p.run.env_prompts } or nil
  end,
}

local PLACE_FIELDS = {
  opt = true, skill = true, is_training = true, step = true, current = true, best = true,
  prepared = true,
}

local meta = { __name = "ctx", __metatable = "ctx" }

--- See lua/meta/ctx.lua.
function meta.__index(_, name)
  local method = Ctx[name]
  if method then return method end
  local field = FIELDS[name]
  if field then return field(place(name)) end
  if PLACE_FIELDS[name] then return place(name)[name] end
  error(string.format("ctx has no '%s' (see lua/meta/ctx.lua)", tostring(name)), 2)
end

--- See lua/meta/ctx.lua.
function meta.__newindex(_, name)
  error(string.format("ctx is read-only (writing '%s')", tostring(name)), 2)
end

--- The facade.
---@return skillopt.Ctx
function M.new()
  return setmetatable({}, meta)
end

return M
