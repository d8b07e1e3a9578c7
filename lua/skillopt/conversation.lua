--- A conversation that grows: the item's trajectory, and the tool loop over it.
local chat = require "skillopt.chat"
local json = require "rt.json"
local options = require "skillopt.options"

local M = {}

-- A turn takes what a call takes, but for what the conversation holds.
local ASK = {}
for name in pairs(chat.OPTIONS) do ASK[name] = true end
ASK.system, ASK.user, ASK.messages = nil, nil, nil

local Conversation = {}
Conversation.__index = Conversation

--- See lua/meta/ctx.lua.
---@param place table
---@param opt table?
---@return skillopt.Conversation
function M.new(place, opt)
  opt = options.check(opt, { system = true, tools = true, max_tokens = true }, "ctx:conversation")
  local conversation = setmetatable({
    place = place, messages = {}, turns = 0, tools = opt.tools, max_tokens = opt.max_tokens,
  }, Conversation)
  if opt.system then
    conversation.messages[1] = { role = "system", content = opt.system }
  end
  if place.item then place.item.conversation = conversation.messages end
  return conversation
end

--- See lua/meta/ctx.lua.
function Conversation:add(content)
  self.messages[#self.messages + 1] = { role = "user", content = content }
end

--- See lua/meta/ctx.lua.
function Conversation:tool(call, result)
  self.messages[#self.messages + 1] = { role = "tool", tool_call_id = call.id, content = result }
end

--- See lua/meta/ctx.lua.
---@async
function Conversation:ask(content, opt)
  if content ~= nil then self:add(content) end
  local call = { messages = self.messages, tools = self.tools, max_tokens = self.max_tokens }
  for name, value in pairs(options.check(opt, ASK, "conversation:ask")) do call[name] = value end
  local reply = chat.chat(self.place, call)
  self.messages[#self.messages + 1] = reply.message
  self.turns = self.turns + 1
  return reply
end

--------------------------------------------------------------------- tool loop

local function find(tools, name)
  for _, tool in ipairs(tools) do
    if tool.name == name then return tool end
  end
end

--- What a tool says, or what was wrong with the call: both go to the model.
---@async
local function result_of(tools, call, ctx, seen)
  if call.id and seen[call.id] then
    return "error: this tool_call id stands twice in this message"
  end
  if call.id then seen[call.id] = true end
  local tool = find(tools, call.name)
  if not tool then return string.format("error: there is no tool '%s'", call.name) end
  if type(call.arguments) ~= "table" then
    return "error: the arguments are no JSON object"
  end
  local text, err = ctx:try(tool.run, call.arguments, ctx)
  if text == nil then
    return "error: " .. (type(err) == "table" and err.message or tostring(err or "no result"))
  end
  return type(text) == "string" and text or json.encode(text)
end

--- See lua/meta/ctx.lua.
---@async
---@param place table
---@param opt table
---@param ctx skillopt.Ctx
---@return skillopt.Reply
function M.agent(place, opt, ctx)
  options.check(opt, { system = true, user = true, tools = true, max_turns = true }, "ctx:agent")
  local talk = M.new(place, { system = opt.system, tools = opt.tools })
  talk:add(opt.user)
  for _ = 1, opt.max_turns or 20 do
    local reply = talk:ask()
    if #reply.tool_calls == 0 then return reply end
    local seen = {}
    for _, call in ipairs(reply.tool_calls) do
      talk:tool(call, result_of(opt.tools or {}, call, ctx, seen))
    end
  end
  chat.no_answer "turn limit"
end

return M
