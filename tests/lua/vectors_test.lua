--- The reference's vectors as a whole: every file of its core is compared, every case of it
--- accounted for, and what differs on purpose is counted, each case with its reason.
local test = require "skillopt.test"
local file = require "rt.file"
local json = require "rt.json"
local vectors = test.support "tests/lua/vectors.lua"

--- Files that are compared in C, with the cases that differ listed elsewhere: all of
--- core_json_dump are the same.
local IN_C <const> = { ["core_extract_json.json"] = "core_extract_json_differs.json",
  ["core_json_dump.json"] = false }

--- Functions of core_extract_json that have no counterpart: replies are read in one way.
local NO_COUNTERPART <const> = "the reference's scanners are steps of its own reading"

local function core_files(folder)
  local out = {}
  for _, name in ipairs(assert(file.list(folder))) do
    local is_listing = name:find "_differs%.json$"
    if name:find "^core_.*%.json$" and not is_listing then out[#out + 1] = name end
  end
  return out
end

local READING <const> = { allow_nan = true, allow_big = true }

local function read(path) return json.decode(test.read(path), READING).cases end

local function cases_of(name) return read("tests/vectors/" .. name) end

--- Cases of a file of core that differ, by reason, and how many are the same.
local function account(name)
  local out, compared = {}, 0
  for _, part in pairs(vectors.listed()[name] or {}) do
    compared = compared + part.compared
    for why, list in pairs(part.differs) do out[why] = #list + (out[why] or 0) end
  end
  return out, compared
end

local function account_in_c(name)
  local out, differing = {}, 0
  local listed = IN_C[name] and cases_of(IN_C[name]) or {}
  for _, case in ipairs(listed) do out[case.why] = (out[case.why] or 0) + 1 end
  for _, case in ipairs(cases_of(name)) do
    if name == "core_extract_json.json" and not case.fn:find "^extract_json" then
      out[NO_COUNTERPART] = (out[NO_COUNTERPART] or 0) + 1
    end
  end
  for _, n in pairs(out) do differing = differing + n end
  return out, #cases_of(name) - differing
end

local function account_of(name)
  if IN_C[name] ~= nil then return account_in_c(name) end
  return account(name)
end

------------------------------------------------------------------------------ totals

local total, differing, files = 0, 0, core_files "tests/vectors"
for _, name in ipairs(files) do
  total = total + #cases_of(name)
  for _, n in pairs((account_of(name))) do differing = differing + n end
end

test(("%d of the %d cases of the reference's core differ on purpose, each with its reason")
  :format(differing, total), function(t)
  t.equal(#files, 28)
  for _, name in ipairs(files) do
    local reasons, compared = account_of(name)
    local n = compared
    for why, count in pairs(reasons) do
      t.ok(#why > 5, ("%s: %q is no reason"):format(name, why))
      n = n + count
    end
    t.equal(n, #cases_of(name), name .. ": cases that are neither compared nor listed")
  end
end)

test("no case is listed twice, and none that is not there", function(t)
  for name, parts in pairs(vectors.listed()) do
    local seen, count = {}, #cases_of(name)
    for _, part in pairs(parts) do
      for why, list in pairs(part.differs) do
        for _, number in ipairs(list) do
          t.ok(not seen[number] and number >= 1 and number <= count,
            ("%s %d: %s"):format(name, number, why))
          seen[number] = true
        end
      end
    end
  end
end)

------------------------------------------------------------------------------- used

--- The text of all tests in a folder.
local function sources(folder, form)
  local out = {}
  for _, name in ipairs(assert(file.list(folder))) do
    if name:find(form) then out[#out + 1] = test.read(folder .. "/" .. name) end
  end
  return table.concat(out, "\n")
end

test("every core file of the reference's vectors is used by a test", function(t)
  local lua, c = sources("tests/lua", "_test%.lua$"), sources("tests/c", "^test_.*%.c$")
  for _, name in ipairs(files) do
    local text = IN_C[name] ~= nil and c or lua
    t.ok(text:find('"' .. name, 1, true) or text:find("/" .. name, 1, true), name .. " is unused")
    if IN_C[name] == nil then t.ok(vectors.listed()[name], name .. " is in no list") end
  end
end)

test("the vectors here are those of the shared material", function(t)
  local shared = test.shared "vectors"
  if not shared then t.skip "the shared material is not there" end
  t.equal(core_files(shared), files)
  for _, name in ipairs(files) do
    t.equal(#read(shared .. "/" .. name), #cases_of(name), name)
  end
end)
