--- Items: read from files, cut into splits, checked before the first call.
---
--- A file is a JSON array, an object with a `data` array, an object whose values are all
--- items, one item, or one JSON value a line. What is wrong is listed all at once.
---
--- Arrays and lines are read record by record, and checked items are kept as bytes that are
--- decoded when an item is used: there may be millions.
local columns = require "rt.columns"
local digest = require "rt.digest"
local file = require "rt.file"
local json = require "rt.json"
local leak = require "skillopt.leak"
local lists = require "skillopt.lists"
local records = require "skillopt.data.records"
local refuse = require "skillopt.refuse"
local raw_pairs = require("rt.raw").pairs
local rng = require "rt.rng"
local scratch = require "skillopt.scratch"
local spool = require "rt.spool"
local text_of = require "rt.text"

local M = {}

M.SPLITS = { "train", "val", "test" }

-- The names a user may give a split.
local ALIASES = {
  train = "train", val = "val", valid_seen = "val", selection = "val", test = "test",
  valid_unseen = "test",
}

--- Problems shown at once.
local SHOWN <const> = 20

--- The canonical split of a name; an unknown one is an error, never a guess.
---@param name string
---@return string?
---@return skillopt.Err?
function M.split_name(name)
  local split = ALIASES[name]
  if split then return split end
  return refuse("data", string.format("there is no split '%s'", tostring(name)),
    "splits are train, val (valid_seen, selection), test (valid_unseen)")
end

---------------------------------------------------------------------- reading

local function all_tables(object)
  local n = 0
  for _, value in pairs(object) do
    if type(value) ~= "table" then return false end
    n = n + 1
  end
  return n > 0
end

--- Items of one decoded document; nil when it is none.
local function items_of(value)
  if type(value) ~= "table" then return nil end
  if json.is_array(value) then return value end
  if type(value.data) == "table" and json.is_array(value.data) then return value.data end
  if value.id == nil and all_tables(value) then
    local items = {}
    for _, item in pairs(value) do items[#items + 1] = item end
    return items
  end
  return { value }
end

local function read_lines(text, name)
  local items, number = {}, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    if line:find "%S" then
      local value, err = json.decode(text_of.strip(line), { allow_nan = true })
      if value == nil then
        return refuse("data", string.format("%s, line %d: %s", name, number, err.message),
          number > 1 and "a line that was cut off? the lines before it are fine" or nil)
      end
      items[#items + 1] = value
    end
  end
  return items
end

--- Values of a file's text, in order.
---@param text string
---@param name string for messages; a name ending in .jsonl is read line by line
---@return any[]?
---@return skillopt.Err?
function M.decode(text, name)
  text = text_of.strip((text:gsub("^\xEF\xBB\xBF", "")))
  if text == "" then return {} end
  if name:find "%.jsonl$" then return read_lines(text, name) end
  local value, err = json.decode(text, { name = name, allow_nan = true })
  if value ~= nil then
    local items = items_of(value)
    if items then return items end
    return refuse("data", string.format("%s holds one %s, not items", name,
      value == json.null and "null" or type(value)))
  end
  local first = text:match "^[^\n]*"
  if #first < #text and json.decode(text_of.strip(first), { allow_nan = true }) ~= nil then
    return read_lines(text, name)
  end
  return refuse("data", err.message)
end

local function read_file(path)
  local items = records.open(path)
  if items then return items end
  local text, err = file.read(path)
  if not text then return nil, err end
  return M.decode(text, path)
end

--- The one data file in a folder.
local function file_in(folder)
  local found = {}
  for _, name in ipairs(file.list(folder) or {}) do
    if name:find "%.jsonl?$" and name ~= "split_manifest.json" then found[#found + 1] = name end
  end
  if #found == 1 then return folder .. "/" .. found[1] end
  for _, name in ipairs(found) do
    if name == "items.json" or name == "items.jsonl" then return folder .. "/" .. name end
  end
  if #found == 0 then
    return refuse("data", string.format("no *.json or *.jsonl file in %s", folder))
  end
  return refuse("data", string.format("%s has %d data files (%s)", folder, #found,
    table.concat(found, ", ")), "leave one, or name it items.json")
end

local function split_file(dir, split)
  for _, form in ipairs { "/%s.json", "/%s.jsonl" } do
    local path = dir .. form:format(split)
    if file.kind(path) == "file" then return path end
  end
  if file.kind(dir .. "/" .. split) ~= "folder" then
    return refuse("data", string.format("%s has neither a folder %s/ nor a file %s.json",
      dir, split, split), "a split_dir needs train, val and test")
  end
  return file_in(dir .. "/" .. split)
end

local function read_split_dir(dir)
  if not dir or dir == "" then
    return refuse("data", "env.split_dir is not set",
      "give the folder that holds train, val and test")
  end
  local splits = {}
  for _, split in ipairs(M.SPLITS) do
    local path, err = split_file(dir, split)
    if not path then return nil, err end
    local items, read_err = read_file(path)
    if not items then return nil, read_err end
    splits[split] = items
  end
  return splits
end

------------------------------------------------------------------------ ratio

--- "2:1:7" as three whole numbers above 0.
---@param text string
---@return integer[]?
---@return skillopt.Err?
function M.ratio(text)
  local parts = {}
  for part in (tostring(text) .. ":"):gmatch "([^:]*):" do
    part = text_of.strip(part)
    if part ~= "" then
      local n = part:match "^%+?%d+$" and math.tointeger(tonumber(part))
      if not n or n <= 0 then parts = {} break end
      parts[#parts + 1] = n
    end
  end
  if #parts == 3 then return parts end
  return refuse("data", string.format("'%s' is no split ratio", tostring(text)),
    "three whole numbers above 0, as in 2:1:7 (train:val:test)")
end

--- Sizes of the parts: largest remainder, ties to the larger weight, then to the earlier.
---@param total integer
---@param ratio integer[]
---@return integer[]
function M.counts(total, ratio)
  local sum = 0
  for _, w in ipairs(ratio) do sum = sum + w end
  local counts, order, left = {}, {}, total
  for i, w in ipairs(ratio) do
    local raw = total * w / sum
    counts[i] = math.floor(raw)
    left = left - counts[i]
    order[i] = { i = i, rest = raw - counts[i], weight = w }
  end
  table.sort(order, function(a, b)
    if a.rest ~= b.rest then return a.rest > b.rest end
    return a.weight > b.weight
  end)
  for k = 1, left do
    local i = order[(k - 1) % #order + 1].i
    counts[i] = counts[i] + 1
  end
  return counts
end

--- Shuffle a copy with the seed and cut it.
---@param items any[]
---@param ratio integer[]
---@param seed integer
---@return table<string, any[]> splits
function M.partition(items, ratio, seed)
  local order = lists.shuffled(items, rng.new(seed))
  local counts, at, splits = M.counts(#items, ratio), 1, {}
  for i, split in ipairs(M.SPLITS) do
    splits[split] = lists.slice(order, at, at + counts[i] - 1)
    at = at + counts[i]
  end
  return splits
end

local function read_ratio(opt)
  local path = opt.data_path
  if not path or path == "" then
    return refuse("data", "env.data_path is not set", "ratio mode needs a file of items, "
      .. "or a folder with one")
  end
  local ratio, ratio_err = M.ratio(opt.split_ratio or "2:1:7")
  if not ratio then return nil, ratio_err end
  local err
  if file.kind(path) == "folder" then path, err = file_in(path) end
  if not path then return nil, err end
  local items, read_err = read_file(path)
  if not items then return nil, read_err end
  if #items == 0 then return refuse("data", string.format("%s has no items", path)) end
  local seed = opt.split_seed and opt.split_seed ~= 0 and opt.split_seed or opt.seed
  return M.partition(items, ratio, seed)
end

---------------------------------------------------------------------- checking

local function id_text(id)
  if type(id) == "string" then return id ~= "" and text_of.is_valid(id) and id or nil end
  if math.type(id) == "integer" then return tostring(id) end
  if type(id) == "number" then return json.format_number(id) end
  return nil
end

--- An id made of the item's content (its canonical JSON), for data without ids.
local function made_id(written)
  return "x" .. digest.sha256(written):sub(1, 12)
end

local function note(problems, form, ...)
  problems[#problems + 1] = form:format(...)
end

local function is_missing(value)
  return value == nil or value == json.null or value == ""
end

local function words_of(raised)
  return tostring(type(raised) == "table" and raised.message or raised)
end

local function check_item(item, where, opt, problems)
  for _, field in ipairs(opt.required or {}) do
    if is_missing(item[field]) then
      note(problems, "%s has no '%s'", where, field)
      return
    end
  end
  local fault = leak.description_fault(opt, item)
  if fault then note(problems, "%s: %s, which only the judge may read", where, fault) end
  if not opt.check then return end
  local ok, fine, why, hint = pcall(opt.check, item, opt.options or {})
  if not ok then
    note(problems, "%s: the environment's check raised: %s", where, words_of(fine))
  elseif not fine then
    note(problems, "%s: %s", where, why or "refused by the environment")
    problems.hint = problems.hint or hint
  end
end

--- Canonical JSON; nil and a noted problem for a value that cannot be stored.
local function canonical(value, where, problems)
  local ok, written = pcall(json.canonical, value)
  if ok then return written end
  note(problems, "%s cannot be stored: %s", where, written:match "%((.*)%)$" or written)
end

--- What the environment makes of a raw record; nil and a noted problem when that fails.
local function made_by(raw, where, opt, problems)
  local ok, answer = pcall(opt.items, raw, opt.options or {})
  if not ok then
    note(problems, "%s: the environment's items raised: %s", where, words_of(answer))
    return nil
  end
  if answer == nil or type(answer) == "table" then return answer or raw end
  note(problems, "%s: the environment's items answers %s, not a table", where, tostring(answer))
end

--- The fields of an item, and what its id is made of where that is missing; nil when
--- something cannot be stored.
local function fields_of(raw, where, opt, problems)
  local made, written, out = raw, nil, {}
  if opt.items or opt.fix_ids then
    written = canonical(raw, where, problems)
    if not written then return nil end
  end
  if opt.items then made = made_by(raw, where, opt, problems) end
  if not made then return nil end
  for k, v in (opt.items and pairs or raw_pairs)(made) do out[k] = v end
  return out, written
end

--- Bring one raw value into the item form with a text id, and into bytes; nil when that
--- fails.
local function item_of(raw, where, opt, problems)
  if type(raw) ~= "table" or json.is_array(raw) and #raw > 0 then
    note(problems, "%s is no object", where)
    return nil
  end
  local item, written = fields_of(raw, where, opt, problems)
  if not item then return nil end
  local id = item.id
  if is_missing(id) and opt.fix_ids then id = made_id(written) end
  item.id = id_text(id)
  local bytes = canonical(item, where, problems)
  if not bytes then return nil end
  if item.id then return item, bytes end
  note(problems, is_missing(id) and "%s has no id"
    or "%s has an id that is neither text nor a number", where)
  return nil
end

--- Which split has the id already, and at which place.
local function seen_before(kept, id)
  for _, split in ipairs(M.SPLITS) do
    local place = kept[split] and kept[split].ids:find(id)
    if place then return split, place end
  end
end

--- A second sight of an id is a problem.
local function note_id(kept, item, raw, split, told, problems)
  local before, place = seen_before(kept, item.id)
  if not before then return end
  local first = kept[before].raws[place]
  if math.type(first.id) ~= math.type(raw.id) then
    note(problems, "id %s and \"%s\" in %s are the same text", tostring(first.id), item.id, split)
  elseif before ~= split then
    note(problems, "id '%s' is in %s and in %s (a leak)", item.id, before, split)
  elseif not told[item.id] then
    told[item.id] = true
    note(problems, "id '%s' stands more than once in %s", item.id, split)
  end
end

local function only_ids(splits)
  for _, split in ipairs(M.SPLITS) do
    for _, item in ipairs(splits[split]) do
      for k in pairs(item) do
        if k ~= "id" and type(item[k]) == "table" and #item[k] > 0 then return false end
        if k == "question" or k == "context" then return false end
      end
    end
  end
  return true
end

local function problem_list(problems, hint)
  local shown = table.move(problems, 1, math.min(#problems, SHOWN), 1, {})
  if #problems > SHOWN then
    shown[#shown + 1] = string.format("... and %d more", #problems - SHOWN)
  end
  return refuse("data", string.format("the data has %d problem%s:\n  %s", #problems,
    #problems == 1 and "" or "s", table.concat(shown, "\n  ")), hint)
end

---@class skillopt.CheckOptions
---@field required string[]? fields every item must have
---@field items function? the environment's: raw record -> item
---@field check function? the environment's
---@field hidden (string[]|function)? the environment's: fields that only its judge reads
---@field options table? of the environment
---@field fix_ids boolean? make ids from the content where they are missing
---@field least integer? items the selection set must have, default 2
---@field needs_test boolean? must there be test items, default true
---@field needs table<string, boolean>? the splits that must have items; default: all

local function check_sizes(splits, opt, problems)
  for _, split in ipairs(M.SPLITS) do
    local is_needed = not opt.needs or opt.needs[split]
    if is_needed and #splits[split] == 0 and (split ~= "test" or opt.needs_test ~= false) then
      note(problems, "%s is empty%s", split, split == "val"
        and " (nothing to gate on; test items are never borrowed)" or "")
    end
  end
  local least = opt.least or 2
  if #splits.val > 0 and #splits.val < least then
    note(problems, "val has %d item%s, fewer than evaluation.min_items = %d", #splits.val,
      #splits.val == 1 and "" or "s", least)
  end
end

--- A split's items as they are kept: the ids, the digests of their bytes, the bytes.
local function new_kept(raws)
  return { raws = raws, ids = columns.texts(), keys = columns.texts(), places = columns.numbers(),
    bytes = spool.new(scratch()) }
end

local function keep(kept, item, bytes)
  local place, err = kept.bytes:add(bytes)
  if not place then error(err, 0) end
  kept.ids:add(item.id)
  kept.keys:add(digest.sha256(bytes))
  kept.places:add(place)
end

local function list_of(kept)
  local function bytes_of(i)
    local bytes, err = kept.bytes:read(kept.places[i])
    return bytes or error(err, 0)
  end
  return lists.lazy(#kept.places, function(i) return json.decode(bytes_of(i)) end, kept.ids,
    bytes_of)
end

--- Check the items of a split; what is fine is kept.
local function check_split(kept, split, opt, told, problems)
  for i, raw in ipairs(kept[split].raws) do
    local where = string.format("%s item %d", split, i)
    local item, bytes = item_of(raw, where, opt, problems)
    if item then
      note_id(kept, item, raw, split, told, problems)
      check_item(item, string.format("%s (%s)", where, item.id), opt, problems)
      keep(kept[split], item, bytes)
    end
  end
end

--- What may help against these problems.
local function hint_of(problems, out, opt)
  if problems.hint then return problems.hint end
  if only_ids(out) then
    return "these splits carry ids only: they are look-up lists; fetch the data and give its folder"
  end
  if not opt.fix_ids then
    return "mend the data; env.fix_ids=true makes missing ids from the items' content"
  end
end

--- Check all splits and give the items with text ids, as lazy lists; the list of what is
--- wrong otherwise. Beside them the digests of the items' canonical JSON.
---@param splits table<string, any[]>
---@param opt skillopt.CheckOptions
---@return table<string, table[]>? items
---@return skillopt.Err? err
---@return table<string, rt.Texts>? keys
function M.check(splits, opt)
  local problems, told, kept, out, keys = {}, {}, {}, {}, {}
  for _, split in ipairs(M.SPLITS) do
    kept[split] = new_kept(splits[split])
    check_split(kept, split, opt, told, problems)
    out[split], keys[split] = list_of(kept[split]), kept[split].keys
  end
  check_sizes(splits, opt, problems)
  if #problems > 0 then return problem_list(problems, hint_of(problems, out, opt)) end
  for _, one in pairs(kept) do one.raws = nil end
  return out, nil, keys
end

--- Read and cut the data of a run (unchecked), each split cut to `limit` when above 0.
---@param opt {split_mode: string, split_dir: string?, data_path: string?, split_ratio: string?, split_seed: integer?, seed: integer, limit: integer?}
---@return table<string, any[]>? splits
---@return skillopt.Err? err
function M.load(opt)
  local splits, err
  if opt.split_mode == "split_dir" then
    splits, err = read_split_dir(opt.split_dir)
  else
    splits, err = read_ratio(opt)
  end
  if not splits then return nil, err end
  if opt.limit and opt.limit > 0 then
    for _, split in ipairs(M.SPLITS) do
      splits[split] = lists.slice(splits[split], 1, opt.limit)
    end
  end
  return splits
end

return M
