--- The commands of the program as data, by name: those of lua/commands, and those that
--- environments bring. `{name, summary, arguments, flags, configuration}`.
local cli = require "skillopt.cli"
local file = require "rt.file"
local loader = require "skillopt.loader"

local function described(name, module)
  local declared = module.declaration or cli.commands[name] or {}
  return { name = name, summary = module.summary, arguments = declared.arguments or "...",
    flags = declared.flags or {}, configuration = declared.configuration or false }
end

local list, seen = {}, {}

local function add(folder, load)
  for _, entry in ipairs(file.list(folder) or {}) do
    local name = entry:match "^([a-z_]+)%.lua$"
    if name and not seen[name] then
      seen[name] = true
      list[#list + 1] = described(name, load(name, folder .. "/" .. entry))
    end
  end
end

local lua = loader.home .. "/lua"
add(lua .. "/commands", function(name) return require("commands." .. name) end)
for _, env in ipairs(file.list(lua .. "/envs") or {}) do
  add(lua .. "/envs/" .. env .. "/commands", function(_, path) return loader.user_file(path) end)
end
table.sort(list, function(a, b) return a.name < b.name end)

return list
