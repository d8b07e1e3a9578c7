--- .env.example: what it names exists, and what it says of each provider is true.
local test = require "skillopt.test"
local backends = require "skillopt.schema.backends"
local config_of = require "skillopt.config"
local file = require "rt.file"
local opening = require "skillopt.config.open"
local schema = require "skillopt.schema"

local TEXT <const> = test.read ".env.example"
local LATER <const> = "not in this version"

--- Blocks by order: title, text with its comments, variables that are named.
local function blocks()
  local out = {}
  for title, body in (TEXT .. "\n# --- "):gmatch "%-%-%- ([^\n]-) %-*\n(.-)%f[#\0]# %f[%-]" do
    local variables = {}
    for name, value in ("\n" .. body):gmatch "\n#?([A-Z][A-Z_]+)=([^\n]*)" do
      variables[#variables + 1] = { name = name, value = value }
    end
    out[#out + 1] = { title = title, body = body, variables = variables }
  end
  return out
end

--- Variables that configure something.
local function known()
  local names = {}
  for _, key in ipairs(schema.core.list) do
    for _, name in ipairs(key.env or {}) do names[name] = true end
  end
  for _, backend in ipairs(backends.list) do
    local model = (backend.prefix or backend.name):upper() .. "_MODEL"
    names[model], names["TARGET_" .. model], names["OPTIMIZER_" .. model] = true, true, true
  end
  return names
end

local function backend_of(block)
  for _, variable in ipairs(block.variables) do
    if variable.name:find "_BACKEND$" then return backends.by_name[variable.value] end
  end
end

local function examine(text)
  return config_of.examine { dotenv = text, read = file.read, configs = opening.configs(),
    env = function() end }
end

test(".env.example names no variable that the schema does not know", function(t)
  local names, count = known(), 0
  for name in ("\n" .. TEXT):gmatch "\n#?([A-Z][A-Z_]+)=" do
    count = count + 1
    t.ok(names[name], name)
  end
  t.ok(count > 20)
end)

test(".env.example has one block a provider, first the Claude CLI for both roles", function(t)
  local all = blocks()
  t.equal(all[1].title, "Claude CLI for both roles")
  t.equal(all[1].variables, { { name = "OPTIMIZER_BACKEND", value = "claude_chat" },
    { name = "TARGET_BACKEND", value = "claude_chat" } })
  local seen = {}
  for _, block in ipairs(all) do
    local backend = backend_of(block)
    t.ok(backend and not seen[backend.name], block.title)
    seen[backend.name] = true
  end
  for _, name in ipairs(backends.usable()) do t.ok(seen[name], name) end
end)

test(".env.example says of a provider that it is not there exactly when that is so", function(t)
  for _, block in ipairs(blocks()) do
    local says_later = block.body:lower():find(LATER, 1, true) ~= nil
    t.equal(says_later, not backend_of(block).usable, block.title)
  end
end)

test(".env.example is a configuration as it stands, and with each block that can be used",
  function(t)
  t.equal(examine(TEXT).problems, {})
  for _, block in ipairs(blocks()) do
    if backend_of(block).usable then
      local settled = examine((block.body:gsub("\n#([A-Z])", "\n%1"):gsub("^#([A-Z])", "%1")))
      t.equal(settled.problems, {}, block.title)
      t.equal(settled:get "model.target_backend", backend_of(block).name)
    end
  end
end)
