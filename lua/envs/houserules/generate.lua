--- `skillopt lua generate.lua --seed 7 --out DIR [--tables DIR]`: write a rule set's items
--- as a split folder. The same seed and tables give the same bytes.
local loader = require "skillopt.loader"
local file = require "rt.file"
local json = require "rt.json"
local stdout = require "rt.stdout"

local HERE <const> = loader.home .. "/lua/envs/houserules"
local USAGE <const> = "usage: skillopt lua generate.lua --seed N --out DIR [--tables DIR]\n"
local KEYS <const> = { "id", "task_type", "question", "context", "answers" }
local MANIFEST_KEYS <const> = { "benchmark", "generator", "seed", "counts", "item_fields" }

local function options_of(args)
  local options = {}
  for i = 1, #args, 2 do
    local name = args[i]:match "^%-%-(%l+)$"
    if not ({ seed = true, out = true, tables = true })[name] or not args[i + 1] then return nil end
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

local function write(path, value, keys)
  local folder = path:match "^(.*)/"
  assert(file.mkdir(folder))
  assert(file.write(path, json.encode(value, { indent = true, keys = keys }) .. "\n"))
end

local options = options_of { ... }
if not options then
  stdout.write(USAGE)
  return 2
end

local generator = loader.user_file(HERE .. "/generator.lua")
local splits, forms = generator.generate(tables_of(options.tables or HERE .. "/tables"), options.seed)
local counts = {}
for split, items in pairs(splits) do
  counts[split] = #items
  write(("%s/%s/items.json"):format(options.out, split), json.array(items), KEYS)
end
write(options.out .. "/split_manifest.json", {
  benchmark = "houserules", generator = "lua/envs/houserules/generate.lua", seed = options.seed,
  counts = counts, item_fields = KEYS,
}, MANIFEST_KEYS)
for family, form in pairs(forms) do
  local words = {}
  for i, part in ipairs(form) do words[i] = part end
  local style = {}
  for _, name in ipairs { "factor", "divisor", "group", "point", "order", "join", "case" } do
    if form[name] then style[#style + 1] = ("%s %s"):format(name, json.encode(form[name])) end
  end
  stdout.write(("%-10s %s  %s\n"):format(family, table.concat(words, " | "), table.concat(style, ", ")))
end
return 0
