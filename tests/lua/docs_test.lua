--- Pages that are written by a program are as that program would write them now.
local file = require "rt.file"
local test = require "skillopt.test"
local api_page = test.support "tests/lint/api_page.lua"

local function meta()
  local texts = {}
  for _, name in ipairs(assert(file.list "lua/meta")) do
    texts[name] = test.read("lua/meta/" .. name)
  end
  return texts
end

local function page(texts)
  return api_page.page(texts, test.read "lua/skillopt/loader.lua")
end

test("docs/lua-api.md is what the annotations say", function(t)
  t.ok(page(meta()) == test.read "docs/lua-api.md", "lua/meta says something else: make docs")
end)

test("every declared function stands on the page of the Lua API", function(t)
  local written, count = test.read "docs/lua-api.md", 0
  for _, text in pairs(meta()) do
    for signature in text:gmatch "\nfunction ([^\n]+) end\n" do
      t.ok(written:find("\n#### `" .. signature .. "`\n", 1, true), signature)
      count = count + 1
    end
  end
  t.ok(count > 150, tostring(count))
end)

test("a changed annotation changes the page", function(t)
  local texts = meta()
  local before = page(texts)
  texts["rt.json.lua"] = texts["rt.json.lua"]:gsub("function json.round%(x, digits%)",
    "function json.round(x, places)")
  t.ok(page(texts) ~= before)
end)

test("types with blanks, lists and aligned lines come out whole", function(t)
  local got = api_page.page({ ["rt.bell.lua"] = [[
---@meta

--- Rings.
---   low    like this
---   high   like that
---@class rt.bell
local bell = {}

--- Ring for <name>, as in `<b>`.
---@async
---@param how fun(item: any): string|number the way
---       it sounds
---@return table<string, integer>? counts how often
function bell.ring(how) end
]] }, "local PURE = { bell = true }")
  t.equal(got:sub(got:find "\n## " + 1, -1), [[
## rt.bell (pure)

Rings.

```
  low    like this
  high   like that
```

#### `bell.ring(how)`

Ring for &lt;name>, as in `<b>`.

It waits.

- `how` `fun(item: any): string|number`: the way it sounds
- gives `counts` `table<string, integer>?`: how often
]])
end)
