--- Any server that speaks Chat Completions at a base URL: hosted ones and local ones
--- (vLLM, SGLang, llama.cpp, Ollama, LM Studio).
local openai_chat = require "skillopt.protocol.openai_chat"
local send = require "skillopt.protocol.send"

return {
  name = "openai_compatible",
  protocol = openai_chat,
  quirks = function(settings)
    return { token_parameter = settings.token_parameter or "max_tokens" }
  end,
  send = function(body, settings, timeout_s)
    return send.post(send.address(settings.base_url, "/chat/completions"), body, settings,
      timeout_s)
  end,
}
