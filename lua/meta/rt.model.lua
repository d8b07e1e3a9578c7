---@meta

--- Wire formats of model calls: requests into bytes, bytes into replies. Pure; the way
--- between is rt.http's.
---@class rt.model
local model = {}

---@class rt.model.part
---@field text? string
---@field image? string   an http, https or data address, the bytes of a picture, or these as base64
---@field type? string    of the image, default "image/png"
---@field detail? string  of the image: "auto", "low", "high"

---@class rt.model.call
---@field id string
---@field name string
---@field arguments string|table  text as the model wrote it (never checked here), or a value

---@class rt.model.message
---@field role "system"|"user"|"assistant"|"tool"
---@field content? string|rt.model.part[]
---@field tool_calls? rt.model.call[]  of an assistant
---@field tool_call_id? string         of a tool: the call it answers
---@field name? string

---@class rt.model.tool
---@field name string
---@field description? string
---@field parameters? table  a JSON schema; default: no parameters

---@class rt.model.params
---@field max_tokens? integer    of the reply
---@field temperature? number
---@field top_p? number
---@field seed? integer
---@field stop? string|string[]
---@field reasoning_effort? string
---@field thinking? "server_default"|"enabled"|"disabled"
---@field tool_choice? string    "auto", "none", "required", or the name of a tool

---@class rt.model.request
---@field model string
---@field messages rt.model.message[]
---@field tools? rt.model.tool[]
---@field params? rt.model.params
---@field format? "json"|{schema: table}
---@field stream? boolean
---@field seed? integer      used when `params` has none
---@field provider? string   not sent

--- What servers of one protocol do differently.
---@class rt.model.quirks
---@field token_parameter? "max_tokens"|"max_completion_tokens"
---@field thinking? string  how it is switched: "none" (default), "chat_template_kwargs",
---   "enable_thinking", "adaptive" and "enabled" (`thinking = {type = ...}`), "reasoning_effort"
---@field omit? string[]    parameters never sent: max_tokens temperature top_p seed stop
---   reasoning_effort thinking response_format tool_choice stream_options
---@field extra? table      fields of the body that add to ours or replace them
---@field system_role? "system"|"developer"
---@field schema? "json_schema"|"json_object"  the second asks for any object
---@field strict? boolean   schemas are sent as strict ones
---@field effort_with_tools? boolean  default true

---@class rt.model.usage
---@field prompt_tokens? integer      nil when neither measured nor estimated
---@field completion_tokens integer   reasoning included
---@field reasoning_tokens? integer
---@field cached_tokens? integer      part of prompt_tokens
---@field estimated? true             prompt or completion was not measured

---@class rt.model.allowance
---@field limit? number
---@field remaining? number
---@field reset_s? number

---@class rt.model.limits
---@field requests? rt.model.allowance
---@field tokens? rt.model.allowance

---@class rt.model.reply
---@field text string         the answer alone
---@field reasoning? string   kept for the record, never graded
---@field tool_calls? rt.model.call[]  nil when there is none; arguments are text, "{}" when empty
---@field finish "stop"|"length"|"tool_calls"|"content_filter"|"other"
---@field outcome "ok"|"truncated"|"empty"|"reasoning_only"
---@field usage rt.model.usage
---@field limits? rt.model.limits  nil when the server says nothing
---@field model? string       as the server names it
---@field id? string
---@field call_markup? true   the text holds a tool call that the server did not parse

--- An error of parse and finish: what every err has, and
---@class rt.model.err: rt.err
---@field status integer           the HTTP status, 0 when the fault is not the server's word
---@field retry_after_s? number    what the server asks for
---@field param? string            the parameter that a 400 or 422 names
---@field code? string             the server's own word
---@field limits? rt.model.limits
---@field usage? rt.model.usage    what was spent all the same

---@class rt.model.reading
---@field keep_think? boolean      think tags are part of the task: leave the text alone
---@field prompt_tokens? integer   estimate of the request (second result of build), used when
---                                the server measures nothing

--- Chat Completions.
---@class rt.model.openai_chat
model.openai_chat = {}

--- The body of a request. What has the wrong type or an unknown name raises.
---@param request rt.model.request
---@param quirks? rt.model.quirks
---@return string? body
---@return integer|rt.err tokens  estimate of the prompt, leaning high; or err, kind "data" when
---   a text is not UTF-8
function model.openai_chat.build(request, quirks) end

--- Read a whole answer. The kinds `refused`, `filtered` and `too_long` are answers as well.
---@param status integer
---@param headers? table<string, string>  names in lower case
---@param body string
---@param reading? rt.model.reading
---@return rt.model.reply?
---@return rt.model.err? err
function model.openai_chat.parse(status, headers, body, reading) end

--- Change `quirks` so that the parameter `err.param` is not refused again. False when that
--- would not help: it names no parameter, an unknown one, or the complaint is about a value.
---@param quirks rt.model.quirks
---@param err {param: string?, message: string?}
---@return boolean changed
function model.openai_chat.adapt(quirks, err) end

---@class rt.model.openai_stream
local stream = {}

--- A parser of one answer that comes as events; `rt.http.request{into = ...}` feeds it.
---@return rt.model.openai_stream
function model.openai_chat.stream() end

--- Take bytes in any pieces. "last": the reply is complete; "enough": it cannot become one.
---@param bytes string
---@return "more"|"last"|"enough"
function stream:feed(bytes) end

--- The reply, as parse gives it; once. A stream without its end is a `network` error; a body
--- that was no event stream is parsed as a whole.
---@param status integer
---@param headers? table<string, string>
---@param reading? rt.model.reading
---@return rt.model.reply?
---@return rt.model.err? err
function stream:finish(status, headers, reading) end

return model
