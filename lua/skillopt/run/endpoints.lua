--- The endpoints of a run: one for each role and model, opened when it is first asked.
local backend_of = require "skillopt.backend"
local schema = require "skillopt.schema"

local M = {}

--- Variable of the back-end's key, for one role or, without it, for both.
---@param spec table a role of a configuration
---@param role "target"|"optimizer"|nil
---@return string?
function M.key_variable(spec, role)
  for _, key in ipairs(schema.core.list) do
    local is_it = key.type == "secret" and key.backend == spec.backend and key.role == role
    if is_it then return key.env[1] end
  end
end

--- Is the address the back-end's own, out on the network?
local function is_own_server(spec)
  for _, key in ipairs(schema.core.list) do
    local is_it = key.backend == spec.backend and key.part == "base_url" and not key.role
    if is_it then return key.default == spec.settings.base_url and key.default:find "^https:" end
  end
end

--- The error of a role without a login at a server that surely wants one and that nobody
--- named: nothing is sent there. Nil when there is none.
---@param config skillopt.Config
---@param role "target"|"optimizer"
---@return skillopt.Err?
function M.missing_login(config, role)
  local spec = config.roles[role]
  local url, variable = spec.settings.base_url, M.key_variable(spec)
  if spec.key or not variable or not url or not is_own_server(spec) then return nil end
  return { kind = "auth", retry = false,
    message = string.format("the %s has no login for %s", role, url),
    hint = string.format("set %s, or %s for this role, in the environment or in .env", variable,
      tostring(M.key_variable(spec, role))) }
end

--- The endpoint of a role, opened when it is first asked: a replay asks none.
local function open_endpoint(run, role, model, shared)
  local spec = run.config.roles[role]
  local settings = {}
  for k, v in pairs(spec.settings) do settings[k] = v end
  settings.api_key = spec.key and run.config:secret(spec.key) or nil
  settings.key_from, settings.key_variable = spec.key_from, M.key_variable(spec)
  settings.max_tokens = role == "target" and run.config:get "env.max_completion_tokens" or 16384
  settings.missing_login = M.missing_login(run.config, role)
  return require("skillopt.endpoint").new {
    role = role, backend = backend_of.load(spec.backend), model = model, settings = settings,
    log = run.log, shared = shared, has_answers = run.journal:next("effect", 0) ~= nil,
    spending = run.spending,
  }
end

--- Models of the roles, those that cost something and those that do not; an evaluation has
--- several targets.
---@param config skillopt.Config
---@return {paid: string[], free: string[]}
function M.models(config)
  local out = { paid = {}, free = {} }
  for _, role in ipairs { "target", "optimizer" } do
    local spec = config.roles[role]
    local list = spec and (backend_of.load(spec.backend).is_free and out.free or out.paid)
    for name in (spec and spec.model .. "," or ""):gmatch "([^,]*)," do list[#list + 1] = name end
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
