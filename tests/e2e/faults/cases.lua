--- cases.lua COUNTS FORM KIND SEED - which faults to try, one `POINT:N:MODE` a line.
---
--- COUNTS has the passes an undisturbed run makes. KIND is `sim`, `http` or `process`: the
--- run that passes the points which are tried. Short is a
--- sample; long takes each point at its first, second, middle and last pass in each mode
--- and 200 drawn passes; full adds a full device everywhere and draws more.
local counts_path, form, kind, seed = ...
math.randomseed(math.tointeger(tonumber(seed)) or 7)

local TORN = { write = true, append = true, lock = true, db_write = true }
-- The kind of run in which a point is tried; all others in `sim`.
local KINDS = { send = "http", receive = "http", spawn = "process" }
-- A child that cannot be started makes an item `failed`, so the bytes are others.
local CRASH_ONLY = { spawn = true }

-- Passes drawn in the long form: 200 in all.
local DRAWN = { sim = 150, http = 40, process = 10 }

local points, passes = {}, {}
for line in io.lines(counts_path) do
  local name, n = line:match "^(%S+) (%d+)$"
  if (KINDS[name] or "sim") == kind then
    points[#points + 1] = name
    passes[name] = math.tointeger(tonumber(n))
    if passes[name] == 0 then
      io.stderr:write("a point is never passed: ", name, "\n")
      os.exit(1)
    end
  end
end

local seen, cases = {}, {}
local function add(point, n, mode)
  local case = ("%s:%d:%s"):format(point, n, mode)
  if not seen[case] then cases[#cases + 1] = case end
  seen[case] = true
end

local function modes_of(point)
  local modes = { "crash" }
  if TORN[point] then modes[#modes + 1] = "tear" end
  if not CRASH_ONLY[point] then modes[#modes + 1] = "fail" end
  if form == "full" and kind == "sim" then modes[#modes + 1] = "full" end
  return modes
end

local function drawn(n)
  for _ = 1, n do
    local point = points[math.random(#points)]
    local modes = modes_of(point)
    add(point, math.random(passes[point]), modes[math.random(#modes)])
  end
end

for i, point in ipairs(points) do
  local last = passes[point]
  local where = { 1, math.min(2, last), (last + 1) // 2, last }
  for j, n in ipairs(where) do
    for k, mode in ipairs(modes_of(point)) do
      -- In the short form each mode of each point once, each at another place.
      if form ~= "short" or (i + k) % 4 + 1 == j then add(point, n, mode) end
    end
  end
end
if form ~= "short" then drawn(form == "full" and 1000 or DRAWN[kind]) end
print(table.concat(cases, "\n"))
