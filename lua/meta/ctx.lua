---@meta
--- The written contract of `ctx`, evaluations, `task`, `json` markers and skill
--- values. Environments and policies stand on this page and on nothing else.
---
--- Rules that hold for every call below:
---  * `ctx` raises; the raised value is an `skillopt.Err`. A wrong argument raises a
---    string that points at the caller.
---  * At most two positional arguments, then one options table; an unknown option
---    name is refused with the nearest known one.
---  * A function marked `---@async` waits: it looks like a plain call, other tasks
---    go on meanwhile. It cannot be called inside `gsub`, `table.sort`, a metamethod or
---    while a module loads.
---  * A `ctx` acts for the task that calls it: slot, random stream and spending are
---    those of the calling task, so children of `task.map` may share it.
---  * Weather (network timeout rate_limit server parse process sandbox), `cancelled`
---    and `budget` pass through every `pcall`, `ctx:try` and `errors = "collect"` of
---    environments and policies.

--- Kinds are one closed list, the same in C and Lua.
---@alias skillopt.ErrKind
---| "usage" | "config" | "data" | "io" | "network" | "timeout" | "auth" | "rate_limit"
---| "server" | "bad_request" | "refused" | "filtered" | "too_long" | "parse"
---| "truncated" | "process" | "sandbox" | "limit" | "budget" | "cancelled" | "bug"

---@class skillopt.Err
---@field kind skillopt.ErrKind
---@field message string what happened and where
---@field hint string? what to do about it
---@field retry boolean the same request may succeed later

--------------------------------------------------------------------------- json

---@class skillopt.json
---@field null any the one value that is written `null`; truthy, equal only to itself
local json = {}

--- Mark `t` as a JSON array, so that it is written `[...]` even when empty.
---@generic T: table
---@param t T
---@return T t the same table
function json.array(t) end

--- Mark `t` as a JSON object, so that it is written `{...}` even when empty.
---@generic T: table
---@param t T
---@return T t the same table
function json.object(t) end

--------------------------------------------------------------------------- task

---@class skillopt.task
local task = {}

---@class skillopt.MapOptions
---@field limit integer? how many run at once (1 or more); default: all. Model calls
---       have a limit of their own; this one bounds memory and open games
---@field label string? name of the children's folder in the slot, default "map"; used
---       again under one parent it becomes `label~2`
---@field key (fun(item: any, index: integer): string|number)? last part of a child's
---       slot, default the index (1-based). Equal keys raise
---@field errors "raise"|"collect"|nil "raise" (default): the error of the smallest index
---       is raised after the items before it have ended, items behind it are cancelled.
---       "collect": the second result holds the errors by index

--- Run `fn(item, index)` for each item as a child task; results in item order.
--- A result of nil leaves a hole: the table carries `n`.
---@async
---@param list any[]
---@param fn fun(item: any, index: integer): any
---@param options skillopt.MapOptions?
---@return any[] results `results.n == #list`
---@return table<integer, skillopt.Err> errors empty unless `errors = "collect"`
function task.map(list, fn, options) end

--------------------------------------------------------------------------- skill

--- A skill is a value: nothing changes it, every operation gives a new one.
---@class skillopt.Skill
---@field text string the document: what the target gets, region markers included
---@field body string the text with each protected region as one opaque character
---@field regions table<string, string> content by name ("slow_update", "appendix")
---@field hash string first 16 hex digits of the SHA-256 of `text`
---@field key string the same of the text without empty regions: equality and caches
---@field tokens integer estimated tokens of `text`
local Skill = {}

--- Apply a patch `{edits = {{op, target, content}, ...}}` to the body, in order.
---@param patch table
---@param options {max_tokens: integer?}? no edit makes the text larger when it then has more
---       tokens than that: it is left out as `over_size`, later ones may fit; 0: no limit
---@return skillopt.Skill
---@return skillopt.Fate[] fates one row an edit
function Skill:apply(patch, options) end

--- The same regions around another body. Region markers in `body` are removed.
---@param body string
---@return skillopt.Skill
function Skill:with_body(body) end

--- The same body with region `name` written anew at the end of the document.
---@param name "slow_update"|"appendix"
---@param content string
---@return skillopt.Skill
function Skill:with_region(name, content) end

---@class skillopt.Fate
---@field index integer 1-based place in the patch
---@field op string
---@field target string first 200 code points
---@field content_preview string first 200 code points
---@field status string the reference's word (`applied_append`, `skipped_...`)
---@field fate string `applied anchor_missing anchor_ambiguous protected no_change
---       empty_target unknown_op malformed over_budget over_size leak ...`

---------------------------------------------------------------------- evaluation

--- The marks of one skill on some items. `ids` are text.
---@class skillopt.Evaluation
---@field skill skillopt.Skill
---@field n integer items that have a mark (`ok` and `no_answer`)
---@field coverage number marked items by decided items, 0 to 1
---@field score number mean of the experiment's metric over the marked items, adjusted
---       for the skill; in a gate: over the items marked in all evaluations given
local Evaluation = {}

--- Ids in item order (in a gate: those marked in all evaluations given).
---@return string[]
function Evaluation:ids() end

--- Marks of one item, one a repeat, in order; a `failed` repeat has none.
---@param id string
---@param name string? "metric" (default), "hard", "soft" or any number of the result
---@return number[]
function Evaluation:marks(id, name) end

---@param id string
---@return "ok"|"no_answer"|"failed"|"not_run"|nil state of the last repeat; nil for an unknown id
function Evaluation:state(id) end

--- Mean over the marked items, each item's marks averaged first; sums run in item
--- order. nil when no item has a mark.
---@param name string? as in `marks`
---@return number?
function Evaluation:mean(name) end

--- The same evaluation on some of its items, in item order.
---@param ids string[]
---@return skillopt.Evaluation
function Evaluation:only(ids) end

--- Marks of both, for the same skill: repeats are joined, items united.
---@param other skillopt.Evaluation
---@return skillopt.Evaluation
function Evaluation:with(other) end

--- One row a repeat in item order, as in `results.jsonl`: `{id, state, hard?, soft?, ...}`.
---@return table[]
function Evaluation:rows() end

--- The trajectories as text for an optimizer: one block an item that has a
--- conversation. Only while the evaluation was made with `feedback`.
---@param options {max_tokens: integer?, max_each: integer?, ids: string[]?}? tokens of all
---       blocks together and of one; what is longer is cut in the middle, with a mark
---@return string
---@return {shared: integer, ids: string[], blocks: {tokens: integer}[], cut: {id: string, characters: integer}[]} facts
function Evaluation:render(options) end

------------------------------------------------------------------------- ctx

---@class skillopt.Message
---@field role "system"|"user"|"assistant"|"tool"
---@field content string|skillopt.Part[]
---@field tool_calls skillopt.ToolCall[]?
---@field tool_call_id string?

---@class skillopt.Part
---@field text string? either text ...
---@field image string? ... or the bytes of an image
---@field type string? media type of the image, as "image/png"
---@field detail "auto"|"low"|"high"|nil

---@class skillopt.ToolCall
---@field id string
---@field name string
---@field arguments table|string the parsed arguments; the raw text when they are no JSON object

---@class skillopt.Tool
---@field name string
---@field description string
---@field parameters table JSON Schema of the arguments
---@field run (fun(arguments: table, ctx: skillopt.Ctx): string)? for `ctx:agent`

---@class skillopt.ChatOptions
---@field system string? system message
---@field user string|skillopt.Part[]? user message; `user` or `messages`, not both
---@field messages skillopt.Message[]?
---@field tools skillopt.Tool[]?
---@field role "target"|"optimizer"|nil default: target in a rollout, optimizer in a policy
---@field stage string? accounting word; default: that of the place (rollout, analyst, ...)
---@field json boolean? ask for a JSON object; `reply.json` is the parsed one
---@field schema table? JSON Schema the reply must have (implies `json`)
---@field max_tokens integer? output cap; default from the configuration
---@field reasoning_effort string? default from the configuration
---@field timeout_s number? deadline of each attempt
---@field partial boolean? return an empty, reasoning-only or cut reply instead of ending
---       the item as `no_answer`

---@class skillopt.Reply
---@field text string what the model said, without its reasoning
---@field reasoning string? what it thought, where the server or the text shows it
---@field message skillopt.Message to put into `messages` of the next call
---@field tool_calls skillopt.ToolCall[] empty when there are none
---@field finish "stop"|"length"|"tool_calls"|"content_filter"|"other"
---@field usage {prompt_tokens: integer, completion_tokens: integer, estimated: boolean?}
---@field json any? the parsed reply when `json` or `schema` was given

---@class skillopt.Ctx
---@field opt table options of this environment or policy, read-only
---@field skill string|skillopt.Skill text in a rollout (`""` = no skill), a value elsewhere
---@field rng rt.Rng random stream of the calling task (`rng:stream(name)` for more)
---@field is_training boolean in a rollout: do the marks feed reflection?
---@field data table<string, table[]> items by split (train, val, test); not in a rollout. The
---       lists are read-only, and an item is read when it is taken: what is written to it
---       stands nowhere else
---@field spent {calls: integer, tokens: integer, cost: number?} effects received so far
---@field step skillopt.Step? in a policy: where the loop is
---@field current skillopt.Evaluation? in a policy: current skill on the selection set
---@field best skillopt.Evaluation? in a policy: best skill on the selection set
---@field env {name: string, prompts: table}? in a policy
---@field prepared any? in a rollout: what `prepare(item, seed)` gave
local Ctx = {}

---@class skillopt.Step
---@field number integer 1-based over the whole run
---@field total integer steps planned
---@field epoch integer 1-based
---@field index integer 1-based within the epoch
---@field seed integer seed of the batch
---@field rate integer? edits allowed in this step, once it is known
---@field memory string text about earlier steps, `""` when there are none
---@field meta string text of the meta skill, `""` when there is none
---@field items "edits"|"revise_suggestions"|"skill_candidates" what is to be proposed
---@field size integer tokens of the current skill
---@field max_size integer|"" the most it may have, `""` when there is no limit
---@field leak fun(text: string): string? why a text for the skill is refused as a leak, or nil
---@field seen {n: integer, hard: number, soft: number}? this step's rollouts, once they are in
---@field lapses "both"|"failure_only"|nil whose analysts are asked for notes

--- One model call. In a rollout an empty, reasoning-only or cut reply is asked once
--- more with twice the output cap, then the item ends as `no_answer` (see `partial`).
---@async
---@param options skillopt.ChatOptions
---@return skillopt.Reply
function Ctx:chat(options) end

--- A conversation that grows; it is the item's trajectory.
---@param options {system: string?, tools: skillopt.Tool[]?, max_tokens: integer?}?
---@return skillopt.Conversation
function Ctx:conversation(options) end

---@class skillopt.Conversation
---@field messages skillopt.Message[] in order; read-only
---@field turns integer assistant messages so far
local Conversation = {}

--- Add a user message without asking.
---@param content string|skillopt.Part[]
function Conversation:add(content) end

--- Answer a tool call.
---@param call skillopt.ToolCall
---@param result string
function Conversation:tool(call, result) end

--- Ask for the next assistant message (after adding `content`, when given).
---@async
---@param content string|skillopt.Part[]|nil
---@param options skillopt.ChatOptions? without system, user, messages
---@return skillopt.Reply
function Conversation:ask(content, options) end

--- A tool loop: ask, run the tools that are called, answer, until the model replies
--- without a call. Bad arguments, unknown tools and a tool's raised error go back to
--- the model as tool results. Ends the item as `no_answer` ("turn limit") otherwise.
---@async
---@param options {system: string?, user: string|skillopt.Part[], tools: skillopt.Tool[], max_turns: integer?}
---@return skillopt.Reply
function Ctx:agent(options) end

--- Run a child process in a workspace (without one: in a new empty one that goes with it).
--- Its environment is fixed but for `env`; everything it started has ended when the answer
--- is there. Limits on time (60 s unless said otherwise), output (1 MiB, both together) and
--- tree (64 MiB, 10,000 files; the tree then stays as it was) are answers. The place of the
--- workspace is written `/workspace` in the output. A program that is not there is weather.
--- In this version there is no sandbox: the experiment must say `sandbox: none`.
---@async
---@param argv string[] UTF-8
---@param options {workspace: skillopt.Workspace?, stdin: string?, timeout_s: number?, env: table<string, string>?}?
---@return {state: "exit"|"signal"|"timeout"|"output"|"tree", code: integer?, stdout: string, stderr: string}
function Ctx:run(argv, options) end

--- A new empty workspace of the calling task: the only writable place of child processes. A
--- value: what it holds after answers from the journal is what it held when they were given.
---@return skillopt.Workspace
function Ctx:workspace() end

---@class skillopt.Workspace
local Workspace = {}
---@param path string relative, inside the workspace; links are followed
---@return string? bytes nil when there is no such file
function Workspace:read(path) end
--- Write a file, and the folders above it. A path that leads outside, a folder in its place
--- and a full workspace raise.
---@param path string
---@param bytes string
function Workspace:write(path, bytes) end
---@return string[] paths of files and links, sorted by byte
function Workspace:list() end

--- Fill in a prompt file. Missing or unknown inputs raise.
---@param name string file `prompts/<name>.md` of the experiment, environment or policy
---@param inputs table<string, string|number|skillopt.Skill>
---@return {system: string, user: string}
function Ctx:prompt(name, inputs) end

--- Fill in a prompt, ask, parse the JSON object; an unusable reply is asked once more
--- with the fault named. nil and an error of kind `parse`, `truncated`, `refused`,
--- `filtered` or `too_long` when that does not help: count it, never take it for "nothing".
--- `also` names a prompt without inputs that is added to the system message.
---@async
---@param options {prompt: string, inputs: table, also: string?, role: string?, stage: string?, want: string[]?, array: boolean?, max_tokens: integer?, reasoning_effort: string?, check: (fun(value: any): boolean, string?)?}
---@return any? value
---@return skillopt.Err? err
function Ctx:ask(options) end

---@class skillopt.EvaluateOptions
---@field label string? slot of the evaluation, default "evaluation"
---@field repeats integer? rollouts an item, default 1
---@field seed integer? handed to the environment's `prepare(item, seed)`
---@field feedback boolean? keep trajectories for `render` until the calling scope ends
---@field stop (fun(prefix: skillopt.Evaluation): boolean)? asked after each item in item
---       order, with one prefix that grows; true ends the evaluation there, what lies behind
---       is `not_run`

--- Roll a skill out on items and mark them. Raises (and so stops the run, resumable)
--- when too many items failed.
---@async
---@param skill skillopt.Skill|string
---@param items table[]
---@param options skillopt.EvaluateOptions?
---@return skillopt.Evaluation
function Ctx:evaluate(skill, items, options) end

--- End the item: the model gave no usable final answer. Only in a rollout.
---@param reason string stable words, no data
function Ctx:no_answer(reason) end

--- Call `f(...)`; a raised error comes back as `nil, err`, except weather,
--- `cancelled` and `budget`, which pass through.
---@async
---@param f function
---@return any ... results of f, or nil and the error
function Ctx:try(f, ...) end

--- Put a decision on record: journalled, compared on resume and replay, and written
--- to `<slot>/<name>.json`.
---@param name string
---@param value table plain JSON data
function Ctx:record(name, value) end

--- Write a text beside the records: `<slot>/<name>`. A derived file; never read back.
---@param name string
---@param text string
function Ctx:write(name, text) end

--- Write a line to `log.jsonl`, which is no part of what must be equal: what happened on
--- the way, for people.
---@param event table plain JSON data with an `event`
function Ctx:log(event) end

--- Add an entry to the item's trajectory, which then consists of these entries instead of
--- the replies: a message, or a step `{step, action, env_feedback, reasoning?}` with
--- further fields for `conversation.json`. Only in a rollout.
---@param entry table plain JSON data
function Ctx:trace(entry) end

--- Run `f(ctx)` as a child task whose slot is `<slot>/<label>`.
---@async
---@param label string may contain `/`
---@param f fun(ctx: skillopt.Ctx): any
---@return any ...
function Ctx:scope(label, f) end

----------------------------------------------------------------- what users define

---@class skillopt.EnvSpec
---@field name string lower case, digits and `_`
---@field rollout fun(item: table, ctx: skillopt.Ctx): table the mark: `{hard, soft, answer?, fail_reason?, ...}`;
---       `hard` 0 to 1, `soft` 0 to 1 (default: hard); `hidden`: texts that must not reach
---       the optimizer (a judge's pattern): masked in its prompts, a leak in a skill
---@field options table<string, table>? `name = {type, default, "doc"}`, set under `env.`
---@field items (fun(raw: table, opt: table): table)? bring one raw record into the item form
---@field check (fun(item: table, opt: table): boolean, string?, string?)? refuse a bad item before the first
---       call: false, why, and a hint for the whole list
---@field prepare (fun(item: table, seed: integer, opt: table): any)?
---@field task_type (fun(item: table): string)? row of the per-type tables, default `item.task_type` or the env's name
---@field feedback (fun(item: table, mark: table): string)? text after the trajectory for the analysts
---@field required string[]? fields every item must have; default {"question"}
---@field answers string[]? fields with the accepted answers, as `result.value`; default: the usual names
---@field hidden (string[]|fun(item: table, opt: table): string|string[]|nil)? fields that only the judge reads, or
---       its texts: masked in the optimizer's prompts, a leak in a skill
---@field judge string[]? files in the environment's folder that are the judge's own

---@class skillopt.PolicySpec
---@field slot "loop"|"reflect"|"aggregate"|"select"|"update"|"rate"|"metric"|"gate"|"slow_update"|"meta_skill"|"appendix"
---@field options table<string, table>? `name = {type, default, "doc"}`, or `{type, key = "gradient.minibatch_size"}`
---@field check (fun(opt: table): boolean, string?)? do the option values fit together?
---@field run function? by slot, see docs/new-policy.md
---@field item function? metric only
---@field adjust function? metric only
---@field max number? metric only: the largest value `item` can give
---@field hopeless function? gate only
---@field waits boolean? rate only: `run` may ask a model
---@field control string? rate only: the word for it in the records, default "fixed"
---@field takes string? update only: what is proposed, default "edits"
---@field compact function? appendix only: fewer notes in the place of all
