--- `skillopt lua generate.lua --seed 7 --out DIR [--tables DIR]`: write a rule set's items
--- as a split folder and print the rules. The same seed and tables give the same bytes.
local loader = require "skillopt.loader"
local file = require "rt.file"
local json = require "rt.json"
local stdout = require "rt.stdout"

local HERE <const> = loader.home .. "/lua/envs/houserules"
local USAGE <const> = "usage: skillopt lua generate.lua --seed N --out DIR [--tables DIR]\n"
local NAMES <const> = { ["--seed"] = "seed", ["--out"] = "out", ["--tables"] = "tables" }
local STYLES <const> = { "factor", "divisor", "group", "point", "order", "join", "case" }

--- The options of the command line; nil when they are not those of the usage.
local function options_of(args)
  local options = { tables = HERE .. "/tables" }
  for i = 1, #args, 2 do
    local name = NAMES[args[i]]
    if not name or not args[i + 1] then return nil end
    options[name] = args[i + 1]
  end
  options.seed = math.tointeger(tonumber(options.seed))
  return options.seed and options.out and options
end

local function tables_of(folder)
  local tables = {}
  for _, name in ipairs { "words", "records", "families" } do
    tables[name] = loader.user_file(("%s/%s.lua"):format(folder, name))
  end
  return tables
end

local function write(path, text)
  assert(file.mkdir((path:match "^(.*)/")))
  assert(file.write(path, text))
end

--- A house form in a line.
local function form_line(family, form)
  local parts = {}
  for i, part in ipairs(form) do parts[i] = part end
  for _, name in ipairs(STYLES) do
    if form[name] then parts[#parts + 1] = ("%s %s"):format(name, json.encode(form[name])) end
  end
  return ("%-10s %s\n"):format(family, table.concat(parts, ", "))
end

local options = options_of { ... }
if not options then
  stdout.write(USAGE)
  return 2
end
local generator = loader.user_file(HERE .. "/generator.lua")
local files, forms = generator.files(tables_of(options.tables), options.seed)
for name, text in pairs(files) do write(options.out .. "/" .. name, text) end
for family, form in pairs(forms) do stdout.write(form_line(family, form)) end
return 0
