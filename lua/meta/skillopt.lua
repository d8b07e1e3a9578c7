---@meta

--- What `require "skillopt"` gives.
---@class skillopt
local skillopt = {}

--- Define an environment; see docs/new-env.md.
---@param definition table
---@return table environment
function skillopt.env(definition) end

--- Define an experiment: configuration with functions allowed in it.
---@param experiment table sections as in YAML, `base` for the file it stands on
---@return table experiment the same table
function skillopt.experiment(experiment) end

---@class skillopt.MessageOptions: skillopt.ChatOptions
---@field backend string? who answers; default: as configured for the role
---@field model string? default: as configured for the role
---@field config string? a configuration file, as for `skillopt run`
---@field settings table<string, any>? values of other keys, as
---       `{ ["model.openai_compatible_base_url"] = "http://127.0.0.1:8000/v1" }`

--- Ask a model once, from a script (`skillopt lua FILE`): through the endpoint, limits and
--- retries that a run would use. The journal lives in memory, so each call is asked anew;
--- calls with the same role, file and settings share their limits. `.env` and the
--- environment are read as for a run. What goes wrong with the call comes back as an error; a
--- wrong argument raises, and so does a call in an environment or a policy: there it is
--- `ctx:chat`.
---
---     local reply, err = skillopt.chat { backend = "sim", user = "Are you there?" }
---     print(reply and reply.text or err.message)
---@async
---@param options skillopt.MessageOptions
---@return skillopt.Reply? reply
---@return skillopt.Err? err
function skillopt.chat(options) end

return skillopt
