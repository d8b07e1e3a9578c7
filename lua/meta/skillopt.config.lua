---@meta
--- The written contract of command lines, the schema and settled configurations.
---
--- A command reads its arguments (`cli.parse`), finds its configuration (`open.open`, or
--- `config.resolve` with a request of its own) and works with what that gives. Nothing
--- else knows where a value comes from.

--------------------------------------------------------------------- command lines

---@class skillopt.Flag
---@field name string without the dashes, `_` between words
---@field value string? word for its value in the help; absent: the flag stands alone
---@field choices string[]?
---@field words table<string, string>? other words for the choices
---@field integer boolean? the value is a whole number
---@field many boolean? may be given more than once: its values are a list
---@field doc string

---@class skillopt.Command
---@field name string
---@field summary string
---@field text string? what the help says below the summary
---@field arguments string? positional arguments as the usage shows them
---@field max_arguments number? the file included; default 0
---@field configuration boolean? takes a file and every key of the schema
---@field has_text boolean? its argument is a text: the file comes with --config, and only
---       `KEY=VALUE` of a known key is an assignment
---@field flags skillopt.Flag[]

---@class skillopt.Assignment
---@field name string key, or an older name of one
---@field value string
---@field from string as it was written, for messages

---@class skillopt.CommandLine
---@field file string? that of --config, or the first argument of a command that takes a
---       configuration
---@field arguments string[] the other positional arguments
---@field assignments skillopt.Assignment[] in order
---@field options table<string, any> the command's own flags, by name
---@field help string? text to show instead of doing anything

---------------------------------------------------------------------------- schema

---@alias skillopt.KeyType
---| "string" | "integer" | "number" | "boolean" | "choice" | "list" | "path" | "ratio"
---| "url" | "secret" | "backend" | "policy"

--- A row of the schema. In the files of `skillopt/schema` the first three fields stand
--- without names.
---@class skillopt.Key
---@field name string `section.key`
---@field type skillopt.KeyType
---@field doc string
---@field class "result"|"cost"|"run" how it counts in a run's identity
---@field min number?
---@field max number?
---@field above number? the value must be greater
---@field off boolean? `none` is a value
---@field choices string[]?
---@field words table<string, string>? other words for choices
---@field default any? for keys with an environment variable and for declared options; all
---       others have theirs in `configs/_base_/default.yaml`
---@field flat string? the reference's name, at the top of a file, and its flag
---@field flag string? when the flag has another name
---@field old string|string[]|nil still older names
---@field env string[]? environment variables, the strongest first
---@field retired string? why the key does nothing
---@field feature string? what it belongs to that this version does not have
---@field asks "any"|"true"|nil which values ask for that feature
---@field later false? the key has a value that works without it
---@field declared boolean? exists only where the environment declares it
---@field option string? of a declared option: its name there
---@field backend string? of a back-end's key
---@field part string? of a back-end's key: its last word
---@field role "optimizer"|"target"|nil of a back-end's key for one role
---@field slot string? of a policy key
---@field optional boolean? of a policy key: `none` means off
---@field missing table<string, string>? of a policy key: names that are still to come
---@field switch string? slot that this older key speaks for
---@field to table? of a switch: policy name by value, false = says nothing
---@field from (fun(policy: any): any)? of a switch: its value for a policy
---@field over boolean? of a switch: stronger than others of its file

---@class skillopt.Schema
---@field list skillopt.Key[] by section
---@field by_name table<string, skillopt.Key>
---@field by_word table<string, skillopt.Key> by flat and older names

--------------------------------------------------------------------- configuration

---@class skillopt.ConfigRequest
---@field file string? path of a YAML file, or of the experiment that gave `table`
---@field table table? what an experiment file returned
---@field source string? text of that file; read through `read` when absent
---@field args skillopt.Assignment[]? of the command line
---@field env (fun(name: string): string?)? process environment
---@field dotenv string? text of `.env`
---@field read fun(path: string): string?, skillopt.Err? text of a file
---@field configs string? folder of the shipped configuration files
---@field cwd string? the working directory, absolute: tells which file is a shipped one
---@field load (fun(slot: string, name: string): table?, skillopt.Err?)? definition of a
---       policy, or of an environment for the slot "env"; its `options` join the schema
---@field roles string[]? the roles that are asked; default: both
---@field complete boolean? also ask for what a run cannot do without
---@field calls boolean? also refuse settings of back-ends that nobody asks

--- Who answers a role's calls.
---@class skillopt.Role
---@field backend string canonical name
---@field model string "" leaves the choice to the back-end
---@field key string? configuration key under which `config:secret` has the login; nil
---       when there is none for that server
---@field key_from string? where the login came from
---@field settings skillopt.RoleSettings

---@class skillopt.RoleSettings
---@field base_url string? without a slash at the end
---@field temperature number? nil: not sent
---@field max_tokens_cap integer? most tokens of a reply, whatever the call asks for
---@field token_parameter "max_tokens"|"max_completion_tokens"|nil
---@field thinking "server_default"|"enabled"|"disabled"|nil
---@field reasoning_effort string? nil: not sent
---@field timeout_s number? of one attempt
---@field max_attempts integer
---@field max_in_flight integer
---@field rpm integer? requests a minute
---@field tpm integer? tokens a minute
---@field noise number? of the simulation, as are the next three
---@field latency_s number?
---@field error_rate number?
---@field malformed_rate number?

--- A settled configuration; read-only.
---@class skillopt.Config
---@field values table<string, table> by section; a login is where it came from, `none` is
---       the word of a value that is off
---@field roles table<string, skillopt.Role> optimizer and target
---@field problems string[] what is wrong, in words
---@field notes string[] what the user should know
local Config = {}

--- The key that a name, a flat or an older one, means.
---@param name string
---@return skillopt.Key?
function Config:find(name) end

--- The value of a key, nil when nothing was said and there is no default.
---@param name string
---@return any
function Config:get(name) end

--- Where the value was said: "experiment.lua:7", "command line",
--- "_base_/default.yaml:12", "environment TARGET_BACKEND", ".env TARGET_BACKEND",
--- "built in", "default" of an option.
---@param name string
---@return string? origin nil without a value
function Config:origin(name) end

--- Was the value said by a file of the installed tree?
---@param name string
---@return boolean
function Config:is_shipped(name) end

--- The text of a login.
---@param name string key, as `role.key`
---@return string? text nil when there is none
function Config:secret(name) end

--- All logins, for scrubbing.
---@return string[]
function Config:secrets() end

--- What to load for a slot, and the option values to give it.
---@param slot string
---@return string|function|table|nil policy a name, function or definition; nil = off
---@return table<string, any> options
function Config:policy(slot) end

--- Values of the options that the environment (`"env"`) or a policy (`"policy.rate"`)
--- declares, those with a key of their own included.
---@param owner string
---@return table<string, any>
function Config:options(owner) end

--- Every key that has a value, sorted by name.
---@return {name: string, value: any, origin: string, key: skillopt.Key}[]
function Config:rows() end

--- Keys that change what a run finds out, with their values: what must be equal for two
--- runs to be one. Settings of back-ends that nobody asks are left out.
---@return table<string, any>
function Config:identity() end

--- The flat form of the reference, for `config.json`. Logins are masked whole.
---@return table<string, any>
function Config:flat() end
