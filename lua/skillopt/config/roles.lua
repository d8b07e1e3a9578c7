--- Who answers which role's calls: back-ends from labels, models, settings, and the key
--- that may be sent.
---
--- The strongest source decides: a label names both back-ends unless a source at least as
--- strong names one itself. `openai_chat` in a file is what the reference writes there
--- when nothing was chosen, and counts as nothing. A setting for the role beats the one
--- for both, whatever their sources.
local backends = require "skillopt.schema.backends"
local names = require "skillopt.names"
local schema = require "skillopt.schema"
local layers = require "skillopt.config.layers"

local M = {}

local ROLES <const> = { "optimizer", "target" }

local function canonical(winner, name, fault)
  if not winner then return nil end
  local backend = backends.find(winner.value)
  if not backend then
    local near = names.nearest(winner.value:lower(), backends.words())
    fault(winner.origin, "%s: there is no back-end %q%s", name, winner.value,
      near and string.format(" (did you mean %s?)", near) or "")
    return nil
  end
  return backend.name
end

--- Back-end of one role and where that was said.
local function choose(state, role, label)
  local name = "model." .. role .. "_backend"
  local own = state.winners[name]
  local own_name = canonical(own, name, state.fault)
  local is_said = own and own.rank >= layers.RANK["command line"]
  if own_name == "openai_chat" and not is_said then own = nil end
  local by_label = state.winners["model.backend"]
  if own and own_name and (not label or own.order >= by_label.order) then
    return own_name, own.origin
  end
  if not label then return nil end
  if own then
    state.note(own.origin, "%s = %s has no effect: model.backend (%s) is stronger", name,
      own.value, by_label.origin)
  end
  return backends.pair(label)[role],
    string.format("model.backend = %s, %s", label, by_label.origin)
end

local function check_role(state, role, backend, origin)
  local entry = backends.by_name[backend]
  if not entry.usable then
    local hint = backend == "codex_exec" and " (the reference's word openai means Codex; "
      .. "the OpenAI API is openai_compatible)" or ""
    state.fault(origin, "model.%s_backend: this version has no %s, only %s%s", role,
      backend, table.concat(backends.usable(), ", "), hint)
  elseif not entry.roles[role] then
    state.fault(origin, "model.%s_backend: %s cannot be the %s", role, backend, role)
  end
end

--- A variable of the role's own back-end that names its model, strongest source first.
local function model_variable(state, role, backend)
  local stem = (backend.prefix or backend.name):upper() .. "_MODEL"
  for _, kind in ipairs { "environment", "dotenv" } do
    local get = state.getters[kind]
    for _, name in ipairs { role:upper() .. "_" .. stem, stem } do
      local value = get(name)
      if value and value ~= "" then
        local title = kind == "dotenv" and ".env" or kind
        return { value = value, origin = title .. " " .. name, rank = layers.RANK[kind] }
      end
    end
  end
end

local function choose_model(state, role, backend)
  local said = state.winners["model." .. role]
  local variable = model_variable(state, role, backend)
  if variable and (not said or variable.rank >= said.rank) then said = variable end
  if not said then return backend.model, "default of " .. backend.name end
  local is_file = said.rank == layers.RANK.user or said.rank == layers.RANK.shipped
  local own = is_file and backends.replacement(role, backend.name, said.value)
  if not own then return said.value, said.origin end
  if backend.name == "minimax_chat" and role == "target" then
    local named = state.winners["model.minimax_model"]
    if named then return named.value, named.origin end
  end
  state.note(said.origin, "model.%s = %s is not a model of %s: %s is asked", role,
    said.value, backend.name, own == "" and "its own choice" or own)
  return own, "default of " .. backend.name
end

--- Winner of a part of the back-end's keys for the role, else that for both.
local function part_of(state, role, backend, part)
  local stem = (backend.prefix or backend.name) .. "_" .. part
  return state.winners["model." .. role .. "_" .. stem] or state.winners["model." .. stem]
end

local function value_of(state, role, backend, part)
  local winner = part_of(state, role, backend, part)
  if winner and winner.value ~= "none" then return winner.value end
end

----------------------------------------------------------------------- thinking

--- What the request says about thinking: one of the three modes.
local function thinking(state, role, backend)
  local mode = part_of(state, role, backend, "thinking_mode")
  local old = part_of(state, role, backend, "enable_thinking")
  local by_old = old and (old.value and "enabled" or "server_default")
  if mode and old and mode.value ~= by_old then
    state.fault(old.origin, "%s contradicts %s = %s (%s)", old.name, mode.name,
      mode.value, mode.origin)
  end
  local result = mode and mode.value or by_old or "server_default"
  if result == "server_default" then
    state.note("model", "whether the %s thinks is left to its server "
      .. "(model.%s_qwen_chat_thinking_mode)", role, role)
  end
  return result
end

---------------------------------------------------------------------------- keys

local function is_from_dotenv(winner)
  return winner ~= nil and winner.rank == layers.RANK.dotenv
end

--- Scheme, host and port of an address: what a key belongs to; nil when it is none. A name
--- and password in it are no part of that, and must not get into a message.
local function server(url)
  local scheme, host = tostring(url):lower():match "^(https?)://([^/?#]+)"
  host = host and host:match "[^@]*$"
  if not host or host == "" then return nil end
  if not host:find ":%d+$" then host = host .. (scheme == "https" and ":443" or ":80") end
  return scheme .. "://" .. host
end

local LOOPBACK <const> = { ["localhost"] = true, ["127.0.0.1"] = true, ["[::1]"] = true }

local function is_bare(url)
  local host = url:lower():match "^http://([^/?#]+)"
  host = host and host:match "[^@]*$"
  return host and not LOOPBACK[(host:gsub(":%d+$", ""))]
end

--- Address that a key belongs to: the one its own source names, else the one in force
--- for the same roles, of which one in `.env` is none for a key from elsewhere.
local function owner(state, key, base_name)
  for _, s in ipairs(state.layers[key.order].statements) do
    local named = schema.find(schema.core, s.name)
    if named and named.name == base_name and server(s.value) then return s.value end
  end
  local base = state.winners[base_name]
  if is_from_dotenv(base) and not is_from_dotenv(key) then return nil end
  return base and base.value
end

--- The key to send to `base_url`: its name, or nil when there is none or it belongs
--- elsewhere.
local function choose_key(state, role, backend, base_url)
  local stem = (backend.prefix or backend.name)
  for _, prefix in ipairs { "model." .. role .. "_" .. stem, "model." .. stem } do
    local key = state.winners[prefix .. "_api_key"]
    if key then
      local belongs = owner(state, key, prefix .. "_base_url") or base_url
      if server(belongs) == server(base_url) then
        if is_bare(base_url) then
          state.note(key.origin, "the key goes to %s without encryption", base_url)
        end
        return key.name, key.origin
      end
      state.note(key.origin, "the key belongs to %s and is not sent to the %s at %s; "
        .. "a key for that server is %s_%s_API_KEY", server(belongs), role,
        server(base_url), role:upper(), stem:upper())
    end
  end
end

------------------------------------------------------------------------- address

--- Names of a part of the back-end's keys: that of the role, then that of both.
local function names_of(role, backend, part)
  local stem = (backend.prefix or backend.name) .. "_" .. part
  return { "model." .. role .. "_" .. stem, "model." .. stem }
end

--- Address of the server. One in `.env` counts only when the key that would be sent there
--- stands in `.env` too: a file that lies in a folder by chance sends no key anywhere.
local function base_url_of(state, role, backend)
  local keys = names_of(role, backend, "api_key")
  local key = state.winners[keys[1]] or state.winners[keys[2]]
  local names_of_url = names_of(role, backend, "base_url")
  for _, name in ipairs(names_of_url) do
    local winner = state.winners[name]
    if winner and winner.value ~= "none" then
      if not is_from_dotenv(winner) or is_from_dotenv(key) then return winner.value end
      state.note(winner.origin, "%s is not used for the %s: its key does not come from .env", name,
        role)
    end
  end
  local shared = schema.core.by_name[names_of_url[2]]
  return shared and shared.default
end

------------------------------------------------------------------------- settings

-- Names of settings by part of the key, or by key.
local PARTS <const> = { temperature = "temperature", max_tokens = "max_tokens_cap",
  timeout_seconds = "timeout_s", noise = "noise", latency_seconds = "latency_s",
  error_rate = "error_rate", malformed_rate = "malformed_rate" }
local COMMON <const> = { calls_in_flight = "max_in_flight", requests_per_minute = "rpm",
  tokens_per_minute = "tpm" }

local function common_settings(state)
  local settings = {}
  for leaf, name in pairs(COMMON) do
    local winner = state.winners["model." .. leaf]
    if winner and winner.value ~= "none" then settings[name] = winner.value end
  end
  local retries = state.winners["model.retries"]
  settings.max_attempts = retries and retries.value + 1
  return settings
end

local function settings_of(state, role, backend)
  local settings = common_settings(state)
  for part, name in pairs(PARTS) do
    settings[name] = value_of(state, role, backend, part)
  end
  settings.base_url = base_url_of(state, role, backend)
  local effort = state.winners["model.reasoning_effort"]
  if effort and effort.value ~= "none" then
    if backend.name == "openai_compatible" then
      settings.reasoning_effort = effort.value
    elseif effort.rank >= layers.RANK.user then
      state.note(effort.origin, "model.reasoning_effort is not sent to %s", backend.name)
    end
  end
  if backend.name == "qwen_chat" then
    settings.thinking = thinking(state, role, backend)
    settings.token_parameter = value_of(state, role, backend, "use_max_completion_tokens")
      and "max_completion_tokens" or "max_tokens"
  elseif backend.name == "openai_compatible" then
    settings.token_parameter = "max_tokens"
  end
  return settings
end

local function resolve(state, role, label)
  local name, origin = choose(state, role, label)
  if not name then return nil end
  local backend = backends.by_name[name]
  if backend.means then
    state.fault(origin,
      "model.%s_backend: %s is a label for both roles (model.backend); the "
      .. "back-end behind it is %s", role, name, backend.means)
    return nil
  end
  check_role(state, role, name, origin)
  local model, model_origin = choose_model(state, role, backend)
  state.set("model." .. role .. "_backend", name, origin)
  state.set("model." .. role, model, model_origin)
  if not backend.usable then return { backend = name, model = model, settings = {} } end
  local out = { backend = name, model = model }
  out.settings = settings_of(state, role, backend)
  local base_url = out.settings.base_url
  if base_url then out.key, out.key_from = choose_key(state, role, backend, base_url) end
  return out
end

--- Roles by name.
---@param state table winners, layers, getters, fault, note and set of the resolver
---@param wanted string[]? the roles that are asked; default: both
---@return table<string, skillopt.Role>
function M.resolve(state, wanted)
  local label = canonical(state.winners["model.backend"], "model.backend", state.fault)
  if label then state.set("model.backend", label) end
  local roles = {}
  for _, role in ipairs(wanted or ROLES) do roles[role] = resolve(state, role, label) end
  return roles
end

return M
