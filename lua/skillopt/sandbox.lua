--- The world of environments, policies and experiments: Lua without dice, without
--- the clock, without the system. What it cannot do has words.
local core = require "rt.task"
local digest = require "rt.digest"
local file = require "rt.file"
local rng = require "rt.rng"
local task = require "skillopt.task"

local M = {}

local PIECE_BYTES <const> = 1 << 16

--- Inputs that were read by user code: `{kind, name, digest}`; part of a run's card.
M.inputs = {}
local seed = 0

--- Seed of the random streams, that of the run.
---@param value integer
function M.set_seed(value)
  seed = value
end

--- The random stream of the calling task, made at its first draw.
---@param name string? another stream of the same task
---@return rt.Rng
function M.stream(name)
  local locals = core.locals()
  local streams = locals.streams
  if not streams then
    streams = {}
    locals.streams = streams
  end
  local id = name or ""
  if not streams[id] then
    local slot = core.slot() .. (name and ("#" .. name) or "")
    streams[id] = rng.from_text(string.format("%d\n%s", seed, slot))
  end
  return streams[id]
end

local noted = {} -- inputs that are listed, by what they are

local function note_input(kind, name, bytes)
  local id = digest.sha256(bytes or "")
  local key = table.concat({ kind, name, id }, "\n")
  if noted[key] then return end
  noted[key] = true
  M.inputs[#M.inputs + 1] = { kind = kind, name = name, digest = id }
end

local function refuse(what, instead)
  return function()
    error(string.format("%s is not there for environments and policies: %s", what, instead), 2)
  end
end

local function pass(ok, ...)
  if ok then return true, ... end
  local err = ...
  if task.is_uncatchable(err) then error(err, 0) end
  return false, ...
end

local function user_pcall(f, ...)
  return pass(pcall(f, ...))
end

local function user_xpcall(f, handler, ...)
  return pass(xpcall(f, function(err)
    if task.is_uncatchable(err) then return err end
    return handler(err)
  end, ...))
end

local function now()
  return core.is_task() and core.time() or 0
end

local function date_field(date, name, otherwise)
  local value = date[name]
  if value == nil then value = otherwise end
  return math.tointeger(value) or error(string.format("field '%s' missing in date table", name), 4)
end

--- Seconds since 1970 of a date in UTC, whatever the machine's zone. Years start in March
--- here, so that the leap day is the last one.
local function utc_time(date)
  local months = date_field(date, "year") * 12 + date_field(date, "month") - 3
  local year, month = months // 12, months % 12
  local days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5
    + date_field(date, "day") - 719469
  return days * 86400 + date_field(date, "hour", 12) * 3600 + date_field(date, "min", 0) * 60
    + date_field(date, "sec", 0)
end

local DATE_FORMAT_MAX <const> = 1000

local function user_os()
  local names = "there is no %s"
  local os_date, os_difftime = os.date, os.difftime
  return {
    time = function(t) return t and utc_time(t) or math.floor(now()) end,
    clock = now,
    date = function(format, time)
      format = format or "%c"
      if #format > DATE_FORMAT_MAX then error("the format of a date is too long", 2) end
      if format:sub(1, 1) ~= "!" then format = "!" .. format end
      return os_date(format, math.floor(time or now()))
    end,
    difftime = os_difftime,
    getenv = function(name)
      local value = os.getenv(name)
      note_input("env", name, value)
      return value
    end,
    execute = refuse("os.execute", "use ctx:run, which keeps the run repeatable"),
    exit = refuse("os.exit", "raise an error"),
    remove = refuse("os.remove", "use a workspace"),
    rename = refuse("os.rename", "use a workspace"),
    tmpname = refuse("os.tmpname", "use a workspace"),
    setlocale = refuse("os.setlocale", names:format "locale"),
  }
end

local function line_at(bytes, at, keep)
  if at > #bytes then return nil, at end
  local stop = bytes:find("\n", at, true) or #bytes + 1
  return bytes:sub(at, keep and stop or stop - 1), stop + 1
end

--- What a format reads from byte `at` on, and where it ends.
local READS <const> = {
  l = function(bytes, at) return line_at(bytes, at, false) end,
  L = function(bytes, at) return line_at(bytes, at, true) end,
  a = function(bytes, at) return bytes:sub(at), #bytes + 1 end,
  n = function(bytes, at)
    local first, last = bytes:find("^%s*[+-]?[%w.]+", at)
    local number = first and tonumber(bytes:sub(first, last))
    return number, number and last + 1 or at
  end,
}

local function read_at(bytes, at, what)
  if type(what) == "number" then
    if at > #bytes and what > 0 then return nil, at end
    local text = bytes:sub(at, at + what - 1)
    return text, at + #text
  end
  local read = READS[what:gsub("^%*", "")]
  if not read then error("unknown read format", 3) end
  return read(bytes, at)
end

--- A read-only file handle over bytes: read("a"|"l"|"L"|"n"|count), lines, close.
local function reader(bytes)
  local at = 1
  local handle = {}
  function handle:read(...)
    local formats, out = table.pack(...), {}
    if formats.n == 0 then formats = { "l", n = 1 } end
    for i = 1, formats.n do
      out[i], at = read_at(bytes, at, formats[i])
      if out[i] == nil then return table.unpack(out, 1, i) end
    end
    return table.unpack(out)
  end
  function handle:lines(what)
    return function() return handle:read(what or "l") end
  end
  function handle:close()
    return true
  end
  handle.write = refuse("writing a file", "use ctx:record or a workspace")
  return setmetatable(handle, { __close = function() end, __name = "file" })
end

local function user_io()
  local function open(path, mode)
    mode = mode or "r"
    if mode ~= "r" and mode ~= "rb" then
      error("io.open is read-only here: use ctx:record or a workspace", 2)
    end
    if path == "" then return nil, "cannot open a file without a name", 2 end
    local bytes, err = file.read(path)
    if not bytes then return nil, err.message, 2 end
    note_input("file", path, bytes)
    return reader(bytes)
  end
  return {
    open = open,
    lines = function(path, what)
      local handle, message = open(path)
      if not handle then error(message, 2) end
      return handle:lines(what)
    end,
    popen = refuse("io.popen", "use ctx:run, which keeps the run repeatable"),
    write = refuse("io.write", "use print, which goes to the terminal only"),
    read = refuse("io.read", "a run asks nobody"),
  }
end

local function user_math()
  local copy = {}
  for k, v in pairs(math) do copy[k] = v end
  copy.random = function(low, high)
    local stream = M.stream()
    if low == nil then return stream:random() end
    if high == nil then low, high = 1, low end
    low, high = math.tointeger(low), math.tointeger(high)
    if not low or not high then error("bad argument to 'random' (whole numbers are wanted)", 2) end
    if low > high then error("bad argument to 'random' (interval is empty)", 2) end
    return low + stream:below(high - low + 1)
  end
  copy.randomseed = refuse("math.randomseed", "streams follow the run's seed and the task")
  return copy
end

local function copy_of(library)
  local copy = {}
  for k, v in pairs(library) do copy[k] = v end
  return copy
end

local function user_setmetatable(t, meta)
  if type(meta) == "table" and (rawget(meta, "__gc") ~= nil or rawget(meta, "__mode") ~= nil) then
    error("__gc and __mode would let the garbage collector be seen; not here", 2)
  end
  return setmetatable(t, meta)
end

local function user_rawset(t, k, v)
  local meta = debug.getmetatable(t)
  local is_guarded = meta and (meta.__frozen or meta.__metatable == "globals")
  if is_guarded then t[k] = v end -- raises as assignment does
  return rawset(t, k, v)
end

--- Source text in pieces, so that reading much of it can be ended between them.
local function in_pieces(text)
  local at = 1
  return function()
    local piece = text:sub(at, at + PIECE_BYTES - 1)
    at = at + #piece
    return piece
  end
end

--- A new global environment for user code.
---@param loader table skillopt.loader
---@return table
function M.environment(loader)
  local env = {}
  for _, name in ipairs { "assert", "error", "getmetatable", "ipairs", "next", "pairs", "print",
    "rawequal", "rawget", "rawlen", "rawset", "select", "tonumber", "tostring", "type" } do
    env[name] = rawget(_G, name)
  end
  env._VERSION = _VERSION
  env.pcall, env.xpcall = user_pcall, user_xpcall
  env.setmetatable = user_setmetatable
  env.rawset = user_rawset
  env.require = loader.user_require
  env.load = function(text, name, mode, world)
    if type(text) ~= "string" then error("load takes text here", 2) end
    if mode and mode ~= "t" then error("load takes source text only", 2) end
    return load(in_pieces(text), name or "=(load)", "t", world or env)
  end
  env.string = loader.freeze(copy_of(string))
  rawset(env, "table", loader.freeze(copy_of(table)))
  env.utf8 = loader.freeze(copy_of(utf8))
  env.math = loader.freeze(user_math())
  env.os = loader.freeze(user_os())
  env.io = loader.freeze(user_io())
  env._G = env
  return env
end

return M
