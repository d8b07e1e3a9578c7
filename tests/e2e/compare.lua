--- compare.lua A B - are two run folders equal in all that must be equal? Everything but
--- the journal, the lock and the log, and but the fields that may differ, byte for byte.
local file = require "rt.file"
local json = require "rt.json"
local sameness = require "skillopt.run.sameness"
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

local function normal(path, text)
  if path:find "%.json$" then assert(json.decode(text)) end
  return sameness.normal(path:sub(2), text)
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
