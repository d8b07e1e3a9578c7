--- A provider for the ReAct environment: as target it lists, reads and answers; what it
--- finds in odd boxes it gets wrong until the skill says how. All follows from the body.
local json = require "rt.json"

local function text_of(messages)
  local out = {}
  for i, message in ipairs(messages) do
    out[i] = type(message.content) == "string" and message.content or ""
  end
  return table.concat(out, "\n")
end

local function optimizer(system)
  if system:find("selected_indices", 1, true) then
    return json.encode { reasoning = "in order", selected_indices = json.array { 0 } }
  end
  local edits = json.array { { op = "append", content = "- Read twice." } }
  if system:find('"patch"', 1, true) then
    return json.encode { batch_size = 1, failure_summary = json.array {},
      patch = { reasoning = "careful", edits = edits } }
  end
  return json.encode { reasoning = "merged", edits = edits }
end

local function target(messages)
  local text = text_of(messages)
  local last = messages[#messages]
  if last.role == "user" then return { tool_calls = { { name = "list", arguments = {} } } } end
  local colour = (last.content or ""):match "colour: (%w+)"
  local box = text:match "has box (%d+)"
  if not colour then
    return { tool_calls = { { name = "read", arguments = { path = "box" .. box .. ".txt" } } } }
  end
  if tonumber(box) % 2 == 1 and not text:find("Read twice", 1, true) then colour = "green" end
  return { text = "<answer>" .. colour .. "</answer>" }
end

return {
  reply = function(request)
    if not request then return { status = 404, body = "{}" } end
    local system = request.messages[1].content
    local is_optimizer = system:find('"edits"', 1, true) or system:find("selected_indices", 1, true)
    if is_optimizer then return { text = optimizer(system) } end
    return target(request.messages)
  end,
}
