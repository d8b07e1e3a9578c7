--- Answers with the last user message. What it should do besides, the message says as
--- fields of a Lua table behind "stub:", such as `stub: status = 500, delay_ms = 20`;
--- `info` may stand in them.

local function last_text(request)
  local messages = request.messages or {}
  local content = #messages > 0 and messages[#messages].content or ""
  return type(content) == "string" and content or ""
end

local function reply(request, info)
  if not request then return { body = info.method .. " " .. info.path } end
  local text = last_text(request)
  local wishes = text:match("stub:(.*)$") or ""
  local answer = load("return {" .. wishes .. "}", "wishes", "t", { info = info })()
  answer.text = answer.text or text
  return answer
end

return { reply = reply }
