--- The Chat Completions protocol as a back-end needs it: build a body, read an answer,
--- leave out what a server refused.
local chat = require("rt.model").openai_chat

---@class skillopt.Protocol
---@field build fun(request: table, quirks: table): string?, integer|skillopt.Err body and estimated tokens, or nil and an error
---@field parse fun(status: integer, headers: table, body: string, options: {prompt_tokens: integer?}?): table?, skillopt.Err?
---@field adapt fun(quirks: table, err: skillopt.Err): boolean change the quirks so that the parameter `err.param` is not refused again

---@type skillopt.Protocol
return { build = chat.build, parse = chat.parse, adapt = chat.adapt }
