--- CHANGELOG.md: the notes of docs/changes under the version they belong to.
local file = require "rt.file"
local loader = require "skillopt.loader"
local text = require "rt.text"

local parts = { "# Changes", "",
  "Written by `make generated` from `docs/changes/`, one file a topic.", "",
  "## " .. loader.version }
for _, name in ipairs(assert(file.list "docs/changes")) do
  if name:find "%.md$" then
    local note = text.strip(assert(file.read("docs/changes/" .. name)))
    parts[#parts + 1] = "\n" .. ("\n" .. note):gsub("\n#", "\n###"):sub(2)
  end
end
return table.concat(parts, "\n") .. "\n"
