--- The endpoints of a run: one for each role and model, opened when it is first asked.
local backend_of = require "skillopt.backend"
local backends = require "skillopt.schema.backends"
local schema = require "skillopt.schema"

local M = {}

--- The variable in which a key of the back-end is looked for; nil when it needs none.
local function key_variable(name)
  local backend = backends.by_name[name]
  local key = schema.find(schema.core, string.format("model.%s_api_key", backend.prefix or name))
  return key and key.env[1]
end

--- The endpoint of a role, opened when it is first asked: a replay asks none.
local function open_endpoint(run, role, model, shared)
  local spec = run.config.roles[role]
  local settings = {}
  for k, v in pairs(spec.settings) do settings[k] = v end
  settings.api_key = spec.key and run.config:secret(spec.key) or nil
  settings.key_from, settings.key_variable = spec.key_from, key_variable(spec.backend)
  settings.max_tokens = role == "target" and run.config:get "env.max_completion_tokens" or 16384
  return require("skillopt.endpoint").new {
    role = role, backend = backend_of.load(spec.backend), model = model, settings = settings,
    log = run.log, shared = shared, has_answers = run.journal:next("effect", 0) ~= nil,
    spending = run.spending,
  }
end

--- Models of the roles that cost something; an evaluation has several targets.
---@param run table
---@return string[]
function M.paid_models(run)
  local out = {}
  for _, role in ipairs { "target", "optimizer" } do
    local spec = run.config.roles[role]
    if spec and not backend_of.load(spec.backend).is_free then
      for name in (spec.model .. ","):gmatch "([^,]*)," do out[#out + 1] = name end
    end
  end
  return out
end

--- Give a run `run.endpoint` and `run.limit_view`.
---@param run table
function M.attach(run)
  local shared, opened = {}, {}
  --- The endpoint of a role; of another model than the configured one when it is named.
  function run.endpoint(role, model)
    model = model or run.config.roles[role].model
    local name = role .. "\n" .. model
    opened[name] = opened[name] or open_endpoint(run, role, model, shared)
    return opened[name]
  end
  --- How the limiter of a role stands, of its first model when it has several; nil before
  --- its first call.
  function run.limit_view(role)
    for _, endpoint in pairs(opened) do
      if endpoint.role == role then return endpoint:view() end
    end
  end
end

return M
