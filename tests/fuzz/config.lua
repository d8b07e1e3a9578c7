--- Bytes as configuration. The first byte says where they stand: a YAML file, a base of
--- one, `.env`, the environment, the command line. Whatever they are: an error with words,
--- or a configuration that can be shown and identified, twice the same.
local cli = require "skillopt.cli"
local config = require "skillopt.config"
local json = require "rt.json"
local open = require "skillopt.config.open"
local show = require "skillopt.config.show"
local file = require "rt.file"

local CONFIGS <const> = open.configs()
local load_definition = open.loader { "." }

local function is_words(err)
  assert(type(err) == "table" and (err.kind == "config" or err.kind == "usage")
    and #err.message > 0, "an error without words: " .. tostring(err))
end

local function lines(text)
  local out = {}
  for line in text:gmatch "[^\n]+" do out[#out + 1] = line end
  return out
end

local function variables(text)
  local out = {}
  for name, value in text:gmatch "([%w_]+)=([^\n]*)" do out[name] = value end
  return out
end

local PLACES <const> = {
  function(text) return { file = "my.yaml", files = { ["my.yaml"] = text } } end,
  function(text)
    local files = { ["my.yaml"] = "_base_: base.yaml\n", ["base.yaml"] = text }
    return { file = "my.yaml", files = files }
  end,
  function(text) return { dotenv = text } end,
  function(text) return { variables = variables(text) } end,
  function(text) return { arguments = lines(text) } end,
}

--- What `config.examine` is asked; nil when the arguments are refused.
local function request(place)
  local line, err = cli.parse("run", place.arguments or {})
  if not line then return is_words(err) end
  if line.help then return nil end
  local files = place.files or {}
  return {
    file = place.file or files[line.file or ""] and line.file, args = line.assignments,
    dotenv = place.dotenv, load = load_definition, configs = CONFIGS, cwd = "/nowhere",
    env = function(name) return (place.variables or {})[name] end,
    read = function(path)
      if files[path] then return files[path] end
      if path:find(CONFIGS, 1, true) == 1 then return file.read(path) end
      return nil, { kind = "io", message = path .. " is not there" }
    end,
  }
end

local function shown(settled)
  for _, problem in ipairs(settled.problems) do assert(#problem > 0, "a problem without words") end
  assert(show.page(settled, {}), "cannot be shown")
  return json.canonical(settled:identity()) .. json.canonical(settled:flat())
end

return function(bytes)
  local place = PLACES[(bytes:byte() or 0) % #PLACES + 1](bytes:sub(2))
  local asked = request(place)
  if not asked then return end
  local settled, err = config.examine(asked)
  if not settled then return is_words(err) end
  local err_of_all = config.refusal(settled)
  assert((err_of_all == nil) == (#settled.problems == 0), "a refusal without problems")
  assert(shown(settled) == shown(assert(config.examine(asked))), "another configuration")
end
