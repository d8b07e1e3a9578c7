--- compare.lua A B - are two run folders equal in all that must be equal? Everything but
--- the journal, the lock and the log, and but the fields that may differ, byte for byte.
local file = require "rt.file"
local json = require "rt.json"
local record = require "skillopt.record"
local schema = require "skillopt.schema"
local stdout = require "rt.stdout"

local IGNORED = { ["journal.db"] = true, ["journal.db-wal"] = true, ["journal.head"] = true,
  ["journal.ballast"] = true, ["journal.db-shm"] = true, ["journal.db-journal"] = true,
  ["run.lock"] = true, ["log.jsonl"] = true }

local function collect(root, below, out)
  for _, name in ipairs(assert(file.list(root .. below))) do
    local path = below .. "/" .. name
    if file.kind(root .. path) == "folder" then
      collect(root, path, out)
    elseif not IGNORED[name] then
      out[path] = true
    end
  end
  return out
end

-- Keys of class `run` and their origins stand in the card; the rest must be the same.
local function card(value)
  local config = {}
  for name, row in pairs(value.config) do
    if row.class == "result" then config[name] = row.value end
  end
  return { version = value.version, identity = value.identity, config = config }
end

--- The flat configuration without what says where and how a run works.
local function results_only(flat)
  for _, key in ipairs(schema.core.list) do
    local name = key.flat or key.name:match "^env%.(.+)$"
    if name and key.class ~= "result" then flat[name] = nil end
  end
  return flat
end

local function normal(path, text)
  if path:find "%.json$" == nil then return text end
  local value = assert(json.decode(text))
  if path == "/run.json" then value = card(value) end
  if path == "/config.json" then value = results_only(value) end
  if path == "/summary.json" then value.config = results_only(value.config) end
  return json.encode(record.comparable(value))
end

local a, b = ...
local left, right = collect(a, "", {}), collect(b, "", {})
local n = 0
for path in pairs(left) do
  if not right[path] then
    stdout.write(string.format("only in %s: %s\n", a, path))
    return 1
  end
  if normal(path, assert(file.read(a .. path))) ~= normal(path, assert(file.read(b .. path))) then
    stdout.write(string.format("differs: %s\n", path))
    return 1
  end
  n = n + 1
end
for path in pairs(right) do
  if not left[path] then
    stdout.write(string.format("only in %s: %s\n", b, path))
    return 1
  end
end
stdout.write(string.format("equal: %d files\n", n))
return 0
