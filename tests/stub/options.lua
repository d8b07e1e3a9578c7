--- The options of the stub, read and checked.

local M = {}

local KINDS <const> = {
  "rate_limit", "rate_limit_date", "500", "503", "cut", "slow", "invalid_json", "html",
  "empty_choices", "chunk", "error_in_stream",
}

local NUMBERS <const> = {
  port = { 0, 65535 },
  latency_ms = { 0, 600000 },
  max_seconds = { 1, 86400 },
  retry_after = { 0, 3600 },
  slow_ms = { 0, 600000 },
}

local SHARES <const> = { fail_share = true, fail_always = true }
local TEXTS <const> = { script = true, port_file = true, log = true, key = true }

local function number_of(option, text, range)
  local value = math.tointeger(tonumber(text))
  if not value or value < range[1] or value > range[2] then
    local words = "%s takes a whole number from %d to %d, not %q"
    error(words:format(option, range[1], range[2], text), 0)
  end
  return value
end

local function share_of(option, text)
  local value = tonumber(text)
  if not value or value < 0 or value > 1 then
    error(("%s takes a share from 0 to 1, not %q"):format(option, text), 0)
  end
  return value
end

local function kinds_of(option, text)
  local known, kinds = {}, {}
  for _, kind in ipairs(KINDS) do known[kind] = true end
  for kind in text:gmatch("[^,]*") do
    if not known[kind] then
      error(("%s knows %s; not %q"):format(option, table.concat(KINDS, " "), kind), 0)
    end
    kinds[#kinds + 1] = kind
  end
  return kinds
end

--- Name of the setting and its value.
local function setting_of(option, text)
  local name = option:match("^%-%-(.*)$") or error("not an option: " .. option, 0)
  name = name:gsub("-", "_")
  if not text then error(option .. " needs a value", 0) end
  if NUMBERS[name] then return name, number_of(option, text, NUMBERS[name]) end
  if SHARES[name] then return name, share_of(option, text) end
  if name == "fault" then return name, kinds_of(option, text) end
  if TEXTS[name] then return name, text end
  error("unknown option " .. option, 0)
end

--- Read `args` (`--name value`, and `--fast` alone); raises on what is not understood.
---@param args string[]
---@return table settings
function M.read(args)
  local settings = {
    port = 0, latency_ms = 0, max_seconds = 600, retry_after = 1, slow_ms = 2000,
    fail_share = 0.0, fail_always = 0.0,
    fault = { "rate_limit", "500", "cut", "invalid_json" },
  }
  local i = 1
  while i <= #args do
    if args[i] == "--fast" then
      settings.fast = true
      i = i + 1
    else
      local name, value = setting_of(args[i], args[i + 1])
      settings[name] = value
      i = i + 2
    end
  end
  if (settings.script ~= nil) == (settings.fast == true) then
    error("give --script FILE or --fast", 0)
  end
  return settings
end

return M
