--- `skillopt lua packaging/generate.lua man|bash|zsh|changelog`: pages that are made from
--- the declarations of the commands and from the change notes. To the standard output.
local stdout = require "rt.stdout"
local file = require "rt.file"

--- A file beside this one; it is handed the commands.
local function part(name, ...)
  local path = "packaging/" .. name .. ".lua"
  local chunk, message = load(assert(file.read(path)), "@" .. path, "t", _G)
  if not chunk then error(message, 0) end
  return chunk(...)
end

local PAGES <const> = {
  man = function() return part("man", part "commands") end,
  bash = function() return part("completion", part "commands").bash() end,
  zsh = function() return part("completion", part "commands").zsh() end,
  changelog = function() return part "changelog" end,
}

local page = PAGES[(...)]
if not page then
  stdout.error "usage: skillopt lua packaging/generate.lua man|bash|zsh|changelog\n"
  return 2
end
stdout.write(page())
