--- How much a prompt for the optimizer may hold.
---
--- `optimizer.prompt_tokens` bounds the whole prompt, by estimate (rt.text). What stands in
--- it in any case (instructions, skill, memory) leaves a room; what is shown is made to fit
--- it: by leaving parts for further calls, else by cutting. Where that is too little to
--- work with, the prompt goes over the budget rather than be empty, and the log says so.
local text = require "rt.text"

local M = {}

--- Room there is in any case.
local LEAST <const> = 1000

local function tokens(filled) return text.tokens(filled.system) + text.tokens(filled.user) end

--- Tokens that a prompt leaves to the input `open`.
---@param ctx skillopt.Ctx
---@param limit integer tokens of the whole prompt
---@param asked {prompt: string, inputs: table, open: string, also: string?} as for `ctx:ask`
---@return integer room
function M.room(ctx, limit, asked)
  local inputs = {}
  for name, value in pairs(asked.inputs) do inputs[name] = value end
  inputs[asked.open] = ""
  local fixed = tokens(ctx:prompt(asked.prompt, inputs))
  if asked.also then fixed = fixed + tokens(ctx:prompt(asked.also, {})) end
  if limit - fixed >= LEAST then return limit - fixed end
  ctx:log { event = "over_budget", prompt = asked.prompt, tokens = fixed + LEAST,
    prompt_tokens = limit }
  return LEAST
end

--- Cut a list into runs that fit a room, in order and as long as may be. What is larger
--- than the room is a run of its own.
---@param list any[]
---@param sizes integer[]
---@param room integer
---@return any[][]
function M.runs(list, sizes, room)
  local out, left = {}, 0
  for i, one in ipairs(list) do
    if sizes[i] > left or #out == 0 then
      out[#out + 1], left = {}, room
    end
    table.insert(out[#out], one)
    left = left - sizes[i]
  end
  return out
end

return M
