--- Values as the schema wants them: one reading for each type, whether a value comes as
--- text (command line, environment, quotes) or typed (YAML, Lua). Nothing is guessed from
--- how a text looks: a key made of digits stays text.
local json = require "rt.json"
local text = require "rt.text"

local M = {}

local YES <const> = { ["true"] = true, ["yes"] = true, ["on"] = true, ["1"] = true }
local NO <const> = { ["false"] = true, ["no"] = true, ["off"] = true, ["0"] = true,
  ["none"] = true }
local OFF <const> = { none = true, off = true, null = true }

--- A value in a message.
---@param value any
---@return string
function M.show(value)
  if value == json.null then return "null" end
  if type(value) == "string" then
    local is_long = text.length(value) > 60
    return '"' .. (is_long and text.sub(value, 1, 60) .. "..." or value) .. '"'
  end
  if type(value) == "table" then return #value > 0 and "a list" or "a table" end
  if type(value) == "function" then return "a function" end
  return tostring(value)
end

--- A finite number, or the number a decimal text means (`_` may stand between digits).
local function number(value)
  if type(value) == "string" then
    value = text.strip(value):gsub("(%d)_%f[%d]", "%1")
    value = not value:find "[xX]" and tonumber(value) or nil
  end
  local is_finite = math.type(value) and value == value and math.abs(value) ~= math.huge
  return is_finite and value or nil
end

local function bounds(key)
  local low, high = key.min, key.max
  if low and high then return string.format(" from %s to %s", low, high) end
  if low then return string.format(", %s or more", low) end
  if high then return string.format(" of at most %s", high) end
  if key.above then return string.format(" above %s", key.above) end
  return ""
end

local function in_bounds(key, value)
  if key.min and value < key.min or key.max and value > key.max then return false end
  return not (key.above and value <= key.above)
end

local function plain(key, value)
  if type(value) == "string" and not value:find "[%z\r\n]" then return value end
  if math.type(value) or type(value) == "boolean" then
    return nil, "text; put it in quotes"
  end
  return nil, key.type == "path" and "a path" or "a line of text"
end

local function ratio(_, value)
  if type(value) ~= "string" then return nil, 'three shares in quotes, as "2:1:7"' end
  local shares = {}
  for share in (value .. ":"):gmatch "%s*([^:]*):" do
    share = share:match "^(.-)%s*$"
    if share ~= "" then shares[#shares + 1] = math.tointeger(number(share)) or 0 end
  end
  for i = 1, 3 do
    if #shares ~= 3 or shares[i] <= 0 then
      return nil, 'three whole numbers above 0, as "2:1:7"'
    end
  end
  return table.concat(shares, ":")
end

local function url(_, value)
  local host = type(value) == "string" and value:match "^https?://([^/?#%s]+)[^%s]*$"
  if not host then return nil, "an address that starts with http:// or https://" end
  if host:find "@" then return nil, "an address without a name or a key in it" end
  return (value:gsub("/+$", ""))
end

local function list(_, value)
  if type(value) == "string" then
    local items = {}
    for item in value:gmatch "[^,]+" do
      item = text.strip(item)
      if item ~= "" then items[#items + 1] = item end
    end
    return json.array(items)
  end
  local items = {}
  for i, item in ipairs(type(value) == "table" and value or {}) do
    if type(item) ~= "string" then return nil, "a list of texts; put each in quotes" end
    items[i] = item
  end
  if type(value) ~= "table" or #items == 0 and next(value) ~= nil then
    return nil, "a list of texts"
  end
  return json.array(items)
end

local function choice(key, value)
  local word = value
  if type(value) == "boolean" or math.type(value) == "integer" then
    word = tostring(value)
  end
  if type(word) == "string" then
    word = text.strip(word):lower()
    word = key.words and key.words[word] or word
    for _, known in ipairs(key.choices) do
      if known == word or known == "none" and NO[word] then return known end
    end
  end
  return nil, "one of " .. table.concat(key.choices, ", ")
end

local function boolean(_, value)
  if type(value) == "boolean" then return value end
  local word = tostring(value):lower():match "^%s*(.-)%s*$"
  if YES[word] then return true end
  if NO[word] then return false end
  return nil, "true or false"
end

local CASTS <const> = {
  string = plain, path = plain, secret = plain, backend = plain, ratio = ratio, url = url,
  list = list, choice = choice, boolean = boolean,
  integer = function(key, value)
    local n = number(value)
    local whole = n and math.tointeger(n)
    if whole and in_bounds(key, whole) then return whole end
    return nil, "a whole number" .. bounds(key)
  end,
  number = function(key, value)
    local n = number(value)
    if n and in_bounds(key, n) then return n end
    return nil, "a number" .. bounds(key)
  end,
}

--- Is `name` the name of a type?
---@param name any
---@return boolean
function M.is_type(name)
  return CASTS[name] ~= nil
end

--- `value` as `key` wants it, or nil and what it wants, in words.
---@param key skillopt.Key
---@param value any
---@return any? value
---@return string? expected
function M.cast(key, value)
  if key.off and (value == false or type(value) == "string" and OFF[value:lower()]) then
    return "none"
  end
  local result, expected = CASTS[key.type](key, value)
  if result == nil and key.off then expected = expected .. ", or none" end
  return result, expected
end

return M
