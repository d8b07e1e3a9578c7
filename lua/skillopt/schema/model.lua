--- Keys of the section model: roles, back-ends and what is common to all calls. The keys
--- of the single back-ends are made from their table.
local backends = require "skillopt.schema.backends"
local raw_next = require("rt.raw").next

local ROLES <const> = { "optimizer", "target" }
local EFFORTS <const> = { "none", "minimal", "low", "medium", "high", "xhigh", "max" }

local rows = {
  { "model.backend", "backend", "label that names the back-ends of both roles",
    class = "run", flat = "model_backend", flag = "backend" },
  { "model.optimizer_backend", "backend", "who answers the optimizer's calls",
    flat = "optimizer_backend", env = { "OPTIMIZER_BACKEND" } },
  { "model.target_backend", "backend", "who answers the target's calls",
    flat = "target_backend", env = { "TARGET_BACKEND" } },
  { "model.optimizer", "string", "model of the optimizer; default: that of its back-end",
    flat = "optimizer_model", env = { "OPTIMIZER_DEPLOYMENT" } },
  { "model.target", "string", "model of the target; default: that of its back-end",
    flat = "target_model", env = { "TARGET_DEPLOYMENT" } },
  { "model.reasoning_effort", "choice", "asked of models that reason; `none` = not sent",
    flat = "reasoning_effort",
    choices = EFFORTS },
  { "model.rewrite_reasoning_effort", "choice",
    "the same for whoever writes a skill anew", flat = "rewrite_reasoning_effort",
    choices = EFFORTS },
  { "model.rewrite_max_completion_tokens", "integer", "most tokens of a rewritten skill",
    min = 1, flat = "rewrite_max_completion_tokens" },
  { "model.codex_trace_to_optimizer", "boolean", "show the optimizer what codex did",
    flat = "codex_trace_to_optimizer", feature = "the back-end codex_exec" },
  { "model.calls_in_flight", "integer", "most calls under way at once to one server",
    min = 1, max = 100000, class = "run", flat = "calls_in_flight" },
  { "model.requests_per_minute", "integer", "ceiling to one server; `none` = its own",
    min = 1, off = true, class = "run", flat = "requests_per_minute" },
  { "model.tokens_per_minute", "integer", "ceiling to one server; `none` = its own",
    min = 1, off = true, class = "run", flat = "tokens_per_minute" },
  { "model.retries", "integer", "how often a call is tried again after bad weather",
    min = 0, class = "run", flat = "retries" },
}

--- Environment variables of one key of a back-end, the strongest first.
local function variables(backend, key, role)
  if key.env then return key.env end
  local prefix, part = (backend.prefix or backend.name):upper(), key[1]:upper()
  if not role then return { prefix .. "_" .. part } end
  local names = { role:upper() .. "_" .. prefix .. "_" .. part }
  if backend.role_inside then
    names[2] = prefix .. "_" .. role:upper() .. "_" .. part
  end
  return names
end

local function add(backend, key, role)
  local prefix = backend.prefix or backend.name
  local part, type, doc = key[1], key[2], key[3]
  local flat = (role and role .. "_" or "") .. prefix .. "_" .. part
  local row = {}
  for field, value in raw_next, key do
    if math.type(field) ~= "integer" then row[field] = value end
  end
  row[1], row[2] = "model." .. flat, type
  row[3] = role and ("the same for the " .. role) or doc
  row.flat, row.backend, row.part, row.role = flat, backend.name, part, role
  row.env = variables(backend, key, role)
  if role then row.default, row.old = nil, nil end
  if not backend.usable then row.feature = "the back-end " .. backend.name end
  rows[#rows + 1] = row
end

for _, backend in ipairs(backends.list) do
  for _, key in ipairs(backend.keys or {}) do
    add(backend, key)
    for _, role in ipairs(backend.by_role and ROLES or {}) do add(backend, key, role) end
  end
end

-- The reference ships these two settings by role, and nothing reads them there.
for _, role in ipairs(ROLES) do
  for _, part in ipairs { "base_url", "api_key" } do
    rows[#rows + 1] = { "model." .. role .. "_minimax_" .. part, "string", "",
      retired = "model.minimax_" .. part .. " is for both roles" }
  end
end

return rows
