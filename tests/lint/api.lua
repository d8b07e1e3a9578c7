--- Write the page of the Lua API, or check that it is as the annotations are:
---
---   lua5.4 tests/lint/api.lua >docs/lua-api.md
---   lua5.4 tests/lint/api.lua --check
local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "?.lua"

local api_page = require "api_page"
local source = require "source"

local PAGE <const> = "docs/lua-api.md"

local texts = {}
for _, path in ipairs(source.paths(".")) do
  local name = path:match("^lua/meta/(.*%.lua)$")
  if name then texts[name] = source.read(path) end
end
local page = api_page.page(texts, source.read("lua/skillopt/loader.lua"))
if arg[1] ~= "--check" then
  io.stdout:write(page)
elseif source.read(PAGE) ~= page then
  print(("%s:1: stale: lua/meta says something else: make docs"):format(PAGE))
  os.exit(1)
end
