--- Unified diffs of lines.
local linediff = require "skillopt.linediff"
local test = require "skillopt.test"

local TITLES <const> = { old = "old", new = "new" }

local function diff(old, new) return linediff.unified(old, new, TITLES) end

test("equal texts have no difference, with and without a last line break", function(t)
  t.equal(diff("a\nb\n", "a\nb\n"), "")
  t.equal(diff("a\nb", "a\nb\n"), "")
  t.equal(diff("", ""), "")
end)

test("a changed line stands between three lines of context", function(t)
  t.equal(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n"), [[
--- old
+++ new
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+X
 6
 7
 8
]])
end)

test("changes far from each other are hunks of their own, near ones are one", function(t)
  local old, new = {}, {}
  for i = 1, 40 do old[i], new[i] = "line " .. i, "line " .. i end
  new[3], new[8], new[30] = "three", "eight", "thirty"
  local out = diff(table.concat(old, "\n"), table.concat(new, "\n"))
  t.equal(select(2, out:gsub("@@ %-%d", "")), 2)
  t.ok(out:find("@@ -1,11 +1,11 @@", 1, true), out)
  t.ok(out:find("@@ -27,7 +27,7 @@", 1, true), out)
end)

test("what was added or taken away is counted on its side", function(t)
  t.equal(diff("", "a\nb\n"), "--- old\n+++ new\n@@ -0,0 +1,2 @@\n+a\n+b\n")
  t.equal(diff("a\nb\n", ""), "--- old\n+++ new\n@@ -1,2 +0,0 @@\n-a\n-b\n")
  t.ok(diff("a\nb\n", "a\nx\nb\n"):find("@@ -1,2 +1,3 @@\n a\n+x\n b\n", 1, true))
end)

--- The new text that a diff gives with the old one; the test's own reading of the format.
local function applied(old, text)
  local lines, out, at = {}, {}, 1
  for line in old:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  for line in text:gmatch "([^\n]*)\n" do
    local first = math.tointeger(tonumber(line:match "^@@ %-(%d+)"))
    if first then
      while at < first do out[#out + 1], at = lines[at], at + 1 end
    elseif line:find "^%+[^+]" or line == "+" then out[#out + 1] = line:sub(2)
    elseif line:find "^%-[^-]" or line == "-" then at = at + 1
    elseif line:find "^ " then out[#out + 1], at = lines[at], at + 1
    end
  end
  while lines[at] do out[#out + 1], at = lines[at], at + 1 end
  return table.concat(out, "\n") .. "\n"
end

test("a diff applied to the old text gives the new one", function(t)
  local rng = require("rt.rng").new(7)
  for _ = 1, 60 do
    local old, new = {}, {}
    for i = 1, 30 do
      old[i] = "l" .. rng:below(6)
      local dice = rng:below(8) + 1
      if dice > 1 then new[#new + 1] = dice == 2 and "new" .. i or old[i] end
    end
    local a, b = table.concat(old, "\n") .. "\n", table.concat(new, "\n") .. "\n"
    local out = diff(a, b)
    t.equal(out == "" and a or applied(a, out), b)
  end
end)

test("beyond the limit of work the middle is said whole", function(t)
  local old, new = { "same" }, { "same" }
  for i = 1, 2100 do old[i + 1], new[i + 1] = "a" .. i, "b" .. i end
  local out = diff(table.concat(old, "\n"), table.concat(new, "\n"))
  t.equal(select(2, out:gsub("\n%-a", "")), 2100)
  t.equal(select(2, out:gsub("\n%+b", "")), 2100)
end)
