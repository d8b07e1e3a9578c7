--- What a run works with, on file: enough to compute it again on another machine.
local dataset = require "skillopt.dataset"
local digest = require "rt.digest"
local json = require "rt.json"
local lists = require "skillopt.lists"
local sandbox = require "skillopt.sandbox"

local M = {}

--- Values that a replay can be given as text; functions and lists come from the sources.
--- And the names of those that the surroundings gave.
local function plain_values(config)
  local out, world = json.object {}, json.array {}
  for _, row in ipairs(config:rows()) do
    local kind = type(row.value)
    local is_plain = kind == "string" or kind == "number" or kind == "boolean"
    if is_plain and row.key.type ~= "secret" then
      out[row.name] = kind == "number" and json.format_number(row.value) or tostring(row.value)
      if row.origin:find "^environment " or row.origin:find "^%.env " then
        world[#world + 1] = row.name
      end
    end
  end
  return out, world
end

--- Queue a row or raise.
local function put(j, kind, slot, key, bytes)
  local ok, err = j:put(kind, slot, key, bytes)
  if not ok then error(err, 0) end
end

local function put_new(j, kind, slot, key, bytes)
  if not j:find(kind, slot, key) then put(j, kind, slot, key, bytes) end
end

--- Items whose digests one row names.
local KEYS_IN_ROW <const> = 10000

--- The rows that name the items of a split, in their order.
local function store_keys(j, split, keys)
  for first = 1, #keys, KEYS_IN_ROW do
    local part = {}
    for i = first, math.min(first + KEYS_IN_ROW - 1, #keys) do part[#part + 1] = keys[i] end
    put_new(j, "value", split, string.format("items:%d", first // KEYS_IN_ROW + 1),
      table.concat(part, "\n"))
  end
end

local function store_items(run)
  local j, counts = run.journal, {}
  for _, split in ipairs(dataset.SPLITS) do
    local keys, items = run.item_keys[split], run.data[split]
    for i = 1, #keys do
      if not j:find("item", "", keys[i]) then
        put(j, "item", "", keys[i], lists.canonical(items, i))
      end
    end
    store_keys(j, split, keys)
    counts[split] = #keys
  end
  if j:find("value", "", "items") then return end
  local ok, err = j:store("value", "", "items", json.canonical(counts))
  if not ok then error(err, 0) end
end

--- Put on file what the run works with: sources, identity, command, skills, items.
---@param run table
function M.store(run)
  local j = run.journal
  for _, source in ipairs(run.source_list) do
    put_new(j, "source", source.name, source.digest, source.text)
  end
  put(j, "open", "", "identity", json.canonical(run.identity))
  local values, world = plain_values(run.config)
  put(j, "open", "", "invocation", json.canonical { file = run.file, values = values,
    world = world, asked = run.program.asked })
  for _, text in ipairs(run.program.skills(run)) do
    put_new(j, "source", "", "skill:" .. digest.sha256(text), text)
  end
  store_items(run)
end

--- Are all inputs on file? The items are stored last: a run that was killed before that has
--- not all.
---@param journal rt.Journal
---@return boolean
function M.are_stored(journal)
  return journal:find("value", "", "items") ~= nil
end

--- What user code read from outside, in an order that does not tell who read first.
local function inputs_read()
  local list = json.array {}
  for i, one in ipairs(sandbox.inputs) do list[i] = one end
  table.sort(list, function(a, b) return json.canonical(a) < json.canonical(b) end)
  return list
end

--- Write the card, `run.json`, and the flat configuration.
---@param run table
function M.write_card(run)
  local values = json.object {}
  for _, row in ipairs(run.config:rows()) do
    values[row.name] = {
      value = row.key.type == "secret" and "***" or type(row.value) == "function" and "function"
        or type(row.value) == "table" and row.value.is_policy and "definition" or row.value,
      origin = row.origin, class = row.key.class,
    }
  end
  run.write("run.json", json.encode({ version = run.version, identity = run.identity,
    config = values, inputs = inputs_read() }, { indent = true }))
  run.write("config.json", json.encode(run.flat_config, { indent = true }))
end

return M
