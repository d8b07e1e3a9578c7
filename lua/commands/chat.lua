--- `skillopt chat TEXT`: one message to a model, through the code that a run uses.
local chat = require "skillopt.chat"
local cli = require "skillopt.cli"
local json = require "rt.json"
local message = require "skillopt.message"
local stdout = require "rt.stdout"
local text_of = require "rt.text"
local visible = require "skillopt.visible"

local M = { summary = "send one message: `skillopt chat --backend sim 'Are you there?'`" }

local USAGE_KEYS <const> = { "prompt_tokens", "completion_tokens" }

local function show(reply, place, options)
  local usage = json.object(reply.usage or {})
  if options.json then
    local endpoint = place.run.endpoint(place.role)
    stdout.write(json.encode({ reply = reply.text, finish = reply.finish, usage = usage,
      role = place.role, backend = endpoint.provider, model = endpoint.model },
      { keys = { "reply", "finish", usage = USAGE_KEYS } }) .. "\n")
    return
  end
  stdout.write(string.format("reply = %s | usage = %s\n", visible.text(reply.text),
    json.encode(usage, { keys = USAGE_KEYS })))
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("chat", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local text = line.arguments[1]
  if not text or text == "" then
    return nil, { kind = "usage", message = "what is the message?",
      hint = "for example: skillopt chat --backend sim 'Are you there?'" }
  end
  for _, one in ipairs { text, line.options.system } do
    if not text_of.is_valid(one) then
      return nil, { kind = "usage", message = "the message is not valid UTF-8",
        hint = "give it in UTF-8", retry = false }
    end
  end
  local place, config = message.open(line, line.options.role or "target")
  for _, note in ipairs(config.notes) do stdout.error("note: " .. note .. "\n") end
  local reply = chat.chat(place, { system = line.options.system, user = text })
  show(reply, place, line.options)
  return 0
end

return M
