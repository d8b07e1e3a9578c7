--- A provider that answers the first boxes at once and lets the others wait: so many calls
--- are in flight at the same time. $HOLD_FROM: the first box that waits, $HOLD_MS: how long.
local from, hold_ms = tonumber(os.getenv "HOLD_FROM"), tonumber(os.getenv "HOLD_MS")

local function reply(request)
  if not request then return "" end
  local messages = request.messages
  local box = tonumber(messages[#messages].content:match "box (%d+)%?")
  return { text = box % 2 == 0 and "red" or "blue", delay_ms = box >= from and hold_ms or 0 }
end

return { reply = reply }
