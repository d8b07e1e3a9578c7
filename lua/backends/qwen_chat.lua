--- Qwen models behind Chat Completions, where thinking is switched through the chat
--- template.
local openai_chat = require "skillopt.protocol.openai_chat"
local send = require "skillopt.protocol.send"

return {
  name = "qwen_chat",
  protocol = openai_chat,
  quirks = function(settings)
    return { token_parameter = settings.token_parameter or "max_tokens",
      thinking = "chat_template_kwargs" }
  end,
  send = function(body, settings, timeout_s)
    return send.post(send.address(settings.base_url, "/chat/completions"), body, settings,
      timeout_s)
  end,
}
