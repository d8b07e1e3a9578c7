--- A provider for tests/programs/react: as target it works with Python in the item's folder
--- (writes a file, edits it, deletes another), reads what came of it and answers; boxes
--- with odd numbers only when the skill says "Read twice". As optimizer it proposes that.
local json = require "rt.json"

local WRITE <const> = [[
import os
text = open("box%s.txt").read()
os.mkdir("found")
open("found/colour", "w").write(text.upper())
os.remove("note.txt")
print(os.getcwd(), sorted(os.listdir(".")))
]]

local EDIT <const> = [[
import os, time
time.sleep(0.05)
path = "found/colour"
before = os.stat(path).st_mtime
text = open(path).read()
open(path, "w").write(text.replace("COLOUR", "shade").lower())
os.rename("box%s.txt", "found/box")
print(sorted(os.listdir("found")), before)
]]

local function call(id, name, arguments)
  return { tool_calls = { { id = id, name = name, arguments = arguments } } }
end

local function target(messages, system)
  local turns, box, last = 0, nil, messages[#messages]
  for _, message in ipairs(messages) do
    if message.role == "assistant" then turns = turns + 1 end
    if message.role == "user" then box = message.content:match "has box (%d+)" end
  end
  if turns == 0 then return call("1", "python", { code = WRITE:format(box) }) end
  if turns == 1 then return call("2", "python", { code = EDIT:format(box) }) end
  if turns == 2 then return call("3", "list", {}) end
  if turns == 3 then return call("4", "read", { path = "found/colour" }) end
  local is_known = tonumber(box) % 2 == 0 or system:find("Read twice", 1, true)
  local colour = is_known and last.content:match "shade: (%w+)" or "green"
  return { text = ("<answer>%s</answer>"):format(colour) }
end

local function optimizer(system)
  if system:find("selected_indices", 1, true) then
    return json.encode { reasoning = "in order", selected_indices = { 0 } }
  end
  local edits = { { op = "append", content = "- Read twice." } }
  if system:find('"patch"', 1, true) then
    return json.encode { batch_size = 1, failure_summary = { { failure_type = "other", count = 1,
      description = "read once" } }, patch = { reasoning = "twice", edits = edits } }
  end
  return json.encode { reasoning = "merged", edits = edits }
end

return {
  reply = function(request)
    if not request then return { status = 404, body = "{}" } end
    local messages = request.messages
    local system = messages[1].role == "system" and messages[1].content or ""
    if system:find('"edits"', 1, true) or system:find("selected_indices", 1, true) then
      return { text = optimizer(system) }
    end
    return target(messages, system)
  end,
}
