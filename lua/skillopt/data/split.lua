--- A split of the data that is there: some files of each part, the kinds of task in equal
--- shares, drawn the same way for the same seed.
local source_of = require "skillopt.data.source"
local digest = require "rt.digest"
local file = require "rt.file"
local json = require "rt.json"
local rng = require "rt.rng"

local M = {}

local KEYS <const> = { "id" }

--- Items by kind of task, each kind shuffled.
local function by_kind(source, paths, random)
  local kinds, groups = {}, {}
  for _, path in ipairs(paths) do
    local item = source.item(path)
    local kind = item.task_type or ""
    if not groups[kind] then kinds[#kinds + 1], groups[kind] = kind, {} end
    table.insert(groups[kind], item)
  end
  table.sort(kinds)
  for _, kind in ipairs(kinds) do random:shuffle(groups[kind]) end
  return kinds, groups
end

--- One of each kind in turn until there are enough; 0 takes all.
local function draw(source, paths, count, random)
  local kinds, groups = by_kind(source, paths, random)
  local out, most = json.array {}, count == 0 and #paths or math.min(count, #paths)
  local round = 1
  while #out < most do
    for _, kind in ipairs(kinds) do
      if groups[kind][round] and #out < most then out[#out + 1] = groups[kind][round] end
    end
    round = round + 1
  end
  return out
end

--- Write train, val and test below a folder, and what they were made of beside them.
---@param source skillopt.DataSource
---@param root string
---@param folder string
---@param options {seed: integer, counts: table<string, integer?>}
---@return table<string, integer>? counts items by split
---@return skillopt.Err? err
function M.run(source, root, folder, options)
  local parts, counts, digests = {}, json.object {}, json.object {}
  for _, part in ipairs(source.parts) do parts[part.name] = part end
  for split, plan in pairs(source.splits) do
    local paths = source_of.counted(source, root, parts[plan.part])
    local random = rng.from_text(("%d split %s"):format(options.seed, split))
    local items = draw(source, paths, options.counts[split] or plan.count, random)
    for i, item in ipairs(items) do item.id = ("%s:%04d"):format(split, i - 1) end
    local text = json.encode(items, { indent = true, keys = KEYS }) .. "\n"
    local ok, err = file.mkdir(folder .. "/" .. split)
    if ok then ok, err = file.write(folder .. "/" .. split .. "/items.json", text) end
    if not ok then return nil, err end
    counts[split], digests[split] = #items, digest.sha256(text)
  end
  local ok, err = file.write(folder .. "/split_manifest.json", json.encode({ source = source.title,
    seed = options.seed, counts = counts, sha256 = digests }, { indent = true }) .. "\n")
  if not ok then return nil, err end
  return counts
end

return M
