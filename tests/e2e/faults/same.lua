--- same.lua NAME REFERENCE FOLDER... - each folder must be equal to the reference in all
--- that must be equal; one line in all when they are, one for each that is not.
local file = require "rt.file"
local stdout = require "rt.stdout"

local compare = assert(load(assert(file.read "tests/e2e/compare.lua"), "@tests/e2e/compare.lua",
  "t", _G))

local name, reference = ...
local folders = { select(3, ...) }
local failed = 0
local write = stdout.write
for _, folder in ipairs(folders) do
  local said = {}
  stdout.write = function(text) said[#said + 1] = text end
  local ok, code = pcall(compare, reference, folder)
  stdout.write = write
  if not ok or code ~= 0 then
    failed = failed + 1
    stdout.write(("FAIL - %s (%s): %s\n"):format(name, folder,
      ok and table.concat(said, " ") or tostring(code)))
  end
end
if #folders == 0 then
  stdout.write(("FAIL - %s: no folder was given\n"):format(name))
elseif failed == 0 then
  stdout.write(("ok - %s (%d)\n"):format(name, #folders))
end
return failed == 0 and #folders > 0 and 0 or 1
