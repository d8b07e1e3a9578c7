--- Draws house rules and items from tables; the same seed and tables give the same items.
---
--- A family of values (dates, weights, codes ...) has one everyday form, in which values
--- stand in the records, and several house forms. The seed draws which families have a
--- house form and which one; the answers to questions about the others are the values as
--- they stand. Families with a house form share three quarters of each split equally.
local digest = require "rt.digest"
local json = require "rt.json"
local rng = require "rt.rng"

local M = {}

--- Items of each split.
M.SIZES = { train = 120, val = 60, test = 120 }
--- Families that get a house form, and the share of questions that need none.
local RULED <const>, PLAIN_SHARE <const> = 9, 0.25
local SPLITS <const> = { "train", "val", "test" }
local ITEM_KEYS <const> = { "id", "task_type", "question", "context", "answers" }
local MANIFEST_KEYS <const> = { "benchmark", "generator", "seed", "counts", "item_fields" }

-------------------------------------------------------------------------- writing

local function fill(form, fields)
  return (form:gsub("{([%w_]+)}", function(name)
    return fields[name] or error("there is no field {" .. name .. "}")
  end))
end

local function grouped(digits, separator)
  local first = (#digits - 1) % 3 + 1
  local out = { digits:sub(1, first) }
  for i = first + 1, #digits, 3 do out[#out + 1] = digits:sub(i, i + 2) end
  return table.concat(out, separator)
end

--- A number with exactly `decimals`, or with as few as it needs.
local function number_text(value, decimals, style)
  local text = ("%." .. (decimals or 6) .. "f"):format(value)
  local whole, fraction = text:match "^(%d+)%.?(%d*)$"
  if not decimals then fraction = fraction:gsub("0+$", "") end
  local tail = fraction ~= "" and (style.point or ".") .. fraction or ""
  return grouped(whole, style.group or "") .. tail
end

local function joined(parts, style)
  if not style.last then return table.concat(parts, style.join) end
  return table.concat(parts, style.join, 1, #parts - 1) .. style.last .. parts[#parts]
end

---------------------------------------------------------------------------- kinds

local MONTHS <const> = { "January", "February", "March", "April", "May", "June", "July",
  "August", "September", "October", "November", "December" }

--- By kind: `draw(family, random, words)` gives a value, `raw(value, family)` its everyday
--- form, `house(value, form, family)` its house form.
local KINDS = {}

local function filled_raw(value, family) return fill(family.raw, value) end

local function filled_house(value, form) return fill(form[1], value) end

KINDS.date = {
  draw = function(_, random)
    local d, m, y = random:below(28) + 1, random:below(12) + 1, 2011 + random:below(14)
    local month = MONTHS[m]
    return { d = tostring(d), dd = ("%02d"):format(d), m = tostring(m), mm = ("%02d"):format(m),
      Month = month, Mon = month:sub(1, 3), MON = month:sub(1, 3):upper(), yyyy = tostring(y),
      yy = ("%02d"):format(y % 100) }
  end,
  raw = filled_raw, house = filled_house,
}

KINDS.person = {
  draw = function(_, random, words)
    local given, family = random:choice(words.given), random:choice(words.family)
    return { Given = given, Family = family, GIVEN = given:upper(), FAMILY = family:upper(),
      given = given:lower(), family = family:lower(), G = given:sub(1, 1), F = family:sub(1, 1),
      g = given:sub(1, 1):lower(), f = family:sub(1, 1):lower() }
  end,
  raw = filled_raw, house = filled_house,
}

KINDS.number = {
  draw = function(family, random)
    local drawn = family.least + random:below(family.most - family.least + 1)
    return drawn * (family.step or 1)
  end,
  raw = function(value, family)
    local decimals = family.decimals or 0
    return fill(family.raw, { n = number_text(value / 10 ^ decimals, decimals, family) })
  end,
  house = function(value, form, family)
    local decimals = family.decimals or 0
    local style = { group = form.group or family.group, point = form.point or family.point }
    if not form.factor and not form.divisor then
      return fill(form[1], { n = number_text(value / 10 ^ decimals, decimals, style) })
    end
    local scaled = value * (form.factor or 1) / ((form.divisor or 1) * 10 ^ decimals)
    return fill(form[1], { n = number_text(scaled, nil, style) })
  end,
}

KINDS.time = {
  draw = function(_, random)
    local hour, minute, late = random:below(11) + 1, random:below(12) * 5, random:below(2) == 1
    local day_hour = late and hour + 12 or hour
    return { h = tostring(hour), mm = ("%02d"):format(minute), ap = late and "pm" or "am",
      H = tostring(day_hour), HH = ("%02d"):format(day_hour) }
  end,
  raw = filled_raw, house = filled_house,
}

KINDS.list = {
  draw = function(family, random, words)
    return random:sample(words[family.from], 3 + random:below(2))
  end,
  raw = function(value, family) return joined(value, family.raw) end,
  house = function(value, form)
    local parts = table.move(value, 1, #value, 1, {})
    if form.order == "sorted" then table.sort(parts) end
    if form.order == "reversed" then
      for i, part in ipairs(value) do parts[#value + 1 - i] = part end
    end
    local text = joined(parts, form)
    return form.case == "capitals" and text:upper() or text
  end,
}

KINDS.choice = {
  draw = function(family, random) return random:below(#family.raw) + 1 end,
  raw = function(value, family) return family.raw[value] end,
  house = function(value, form) return form[value] or form[1] end,
}

KINDS.code = {
  draw = function(family, random, words)
    local letters = random:choice(words[family.from])
    return { ab = letters, AB = letters:upper(), nnnn = ("%04d"):format(random:below(10000)) }
  end,
  raw = filled_raw, house = filled_house,
}

KINDS.phone = {
  draw = function(_, random)
    local zone = tostring(300 + random:below(600))
    return { zone = zone, area = "0" .. zone, head = tostring(200 + random:below(800)),
      tail = ("%04d"):format(random:below(10000)) }
  end,
  raw = filled_raw, house = filled_house,
}

KINDS.word = {
  draw = function(family, random, words) return random:choice(words[family.from]) end,
  raw = function(value) return value end,
}

---------------------------------------------------------------------------- rules

--- Names of the families, sorted; those that may have a house form apart.
local function names_of(families)
  local ruled, plain = {}, {}
  for name, family in pairs(families) do
    table.insert(family.ruled and ruled or plain, name)
  end
  table.sort(ruled)
  table.sort(plain)
  return ruled, plain
end

--- Draw the house rules: a form for some families; the names of the others.
---@param families table<string, table>
---@param random rt.rng.stream
---@return table<string, table> forms by family
---@return string[] ruled
---@return string[] plain
function M.rules(families, random)
  local all, plain = names_of(families)
  local order = random:shuffle(all)
  local forms, ruled = {}, {}
  for i, name in ipairs(order) do
    if i <= RULED then
      ruled[i], forms[name] = name, random:choice(families[name].forms)
    elseif not families[name].anywhere then
      plain[#plain + 1] = name
    end
  end
  return forms, ruled, plain
end

---------------------------------------------------------------------------- items

--- The fields each family is asked in, as record and place in it.
local function fields_by_family(set)
  local out = {}
  for _, record in ipairs(set.tables.records) do
    for at, field in ipairs(record.fields) do
      local list = out[field[2]] or {}
      list[#list + 1] = { record = record, at = at }
      out[field[2]] = list
      set.anywhere[#set.anywhere + 1] = list[#list]
    end
  end
  return out
end

local function value_text(set, family_name)
  local family = set.tables.families[family_name]
  local kind = KINDS[family.kind]
  local value = kind.draw(family, set.random, set.tables.words)
  local form = set.forms[family_name]
  local raw = kind.raw(value, family)
  return raw, form and kind.house(value, form, family) or raw
end

--- The text of a record that shows some of its fields; `asked` is shown as `raw`.
local function record_text(set, record, number, asked, raw)
  local shown, places = {}, {}
  for at = 1, #record.fields do
    if at ~= asked then places[#places + 1] = at end
  end
  local count = math.min(#places, 3 + set.random:below(3))
  for _, at in ipairs(set.random:sample(places, count)) do shown[at] = true end
  local lines = { fill(record.title, { number = number }) }
  for at, field in ipairs(record.fields) do
    local text = at == asked and raw or shown[at] and value_text(set, field[2])
    if text then lines[#lines + 1] = field[1] .. ": " .. text end
  end
  if set.random:below(3) == 0 then
    lines[#lines + 1] = set.random:choice(set.tables.words.remark)
  end
  return table.concat(lines, "\n")
end

local function new_number(set, taken)
  local number
  repeat number = tostring(1000 + set.random:below(9000)) until not taken[number]
  taken[number] = true
  return number
end

--- The asked record and one to three others, in any order.
local function context_of(set, field, raw, number)
  local taken, blocks = { [number] = true }, {}
  for i = 1, 1 + set.random:below(3) do
    local other = i == 1 and field.record or set.random:choice(set.tables.records)
    blocks[i] = record_text(set, other, new_number(set, taken))
  end
  blocks[#blocks + 1] = record_text(set, field.record, number, field.at, raw)
  return table.concat(set.random:shuffle(blocks), "\n\n")
end

local function item_of(set, family_name, split, index)
  local family = set.tables.families[family_name]
  local field = set.random:choice(family.anywhere and set.anywhere or set.fields[family_name])
  local raw, expected = value_text(set, family_name)
  local number = new_number(set, {})
  local record = fill(field.record.name, { number = number })
  local question = set.random:choice(field.record.fields[field.at][3])
  return {
    id = "h" .. digest.sha256(("%d %s %d"):format(set.seed, split, index)):sub(1, 9),
    task_type = family_name,
    question = fill(question, { record = record }),
    context = context_of(set, field, raw, number),
    answers = { expected },
  }
end

--- Families of a split's questions, each of a group as often as the others.
local function spread(set, size)
  local out, plain_count = {}, math.floor(size * PLAIN_SHARE)
  for i = 1, plain_count do out[i] = set.plain[(i - 1) % #set.plain + 1] end
  for i = 1, size - plain_count do out[#out + 1] = set.ruled[(i - 1) % #set.ruled + 1] end
  return set.random:shuffle(out)
end

--- Draw rules and items.
---@param tables {words: table, records: table[], families: table<string, table>}
---@param seed integer
---@return table<string, table[]> splits
---@return table<string, table> forms the drawn house forms by family
function M.generate(tables, seed)
  local random = rng.from_text("house rules " .. seed)
  local set = { tables = tables, seed = seed, random = random, anywhere = {} }
  set.fields = fields_by_family(set)
  set.forms, set.ruled, set.plain = M.rules(tables.families, random)
  local splits = {}
  for _, split in ipairs(SPLITS) do
    splits[split] = {}
    for i, family in ipairs(spread(set, M.SIZES[split])) do
      splits[split][i] = item_of(set, family, split, i)
    end
  end
  return splits, set.forms
end

--- Rules and items as the files of a split folder.
---@param tables {words: table, records: table[], families: table<string, table>}
---@param seed integer
---@return table<string, string> files text by path
---@return table<string, table> forms
function M.files(tables, seed)
  local splits, forms = M.generate(tables, seed)
  local files, counts = {}, {}
  for split, items in pairs(splits) do
    counts[split] = #items
    files[split .. "/items.json"] =
      json.encode(json.array(items), { indent = true, keys = ITEM_KEYS }) .. "\n"
  end
  files["split_manifest.json"] = json.encode({
    benchmark = "houserules", generator = "lua/envs/houserules/generate.lua", seed = seed,
    counts = counts, item_fields = ITEM_KEYS,
  }, { indent = true, keys = MANIFEST_KEYS }) .. "\n"
  return files, forms
end

return M
