--- Bytes as three files of items, divided by \x1e. The first byte says how they are read.
--- Whatever they are: an error of kind `data` with words, or items whose ids are texts of
--- which no two are equal.
local dataset = require "skillopt.dataset"
local text = require "rt.text"

local SPLITS <const> = { "train", "val", "test" }

local function is_set(flags, bit)
  return flags & bit ~= 0
end

--- The values of each file, or nil when one is refused.
local function decoded(bytes, is_lines)
  local splits, at = {}, 1
  for _, split in ipairs(SPLITS) do
    local stop = bytes:find("\x1e", at, true) or #bytes + 1
    local name = split .. (is_lines and ".jsonl" or ".json")
    local items, err = dataset.decode(bytes:sub(at, stop - 1), name)
    if not items then
      assert(err.kind == "data" and #err.message > 0, "an error without words")
      return nil
    end
    splits[split], at = items, stop + 1
  end
  return splits
end

local function check_ids(splits)
  local seen = {}
  for _, split in ipairs(SPLITS) do
    for _, item in ipairs(splits[split]) do
      assert(type(item.id) == "string" and item.id ~= "" and text.is_valid(item.id), "no id")
      assert(not seen[item.id], "the same id twice")
      seen[item.id] = true
    end
  end
end

local function check_partition(items)
  local parts = dataset.partition(items, { 2, 1, 7 }, 42)
  assert(#parts.train + #parts.val + #parts.test == #items, "items were lost")
end

return function(bytes)
  local flags = bytes:byte() or 0
  local splits = decoded(bytes:sub(2), is_set(flags, 1))
  dataset.ratio(bytes:sub(2, 20))
  if not splits then return end
  check_partition(splits.train)
  local checked, err = dataset.check(splits, { fix_ids = is_set(flags, 2),
    required = is_set(flags, 4) and { "question" } or nil, least = 1 })
  if checked then
    check_ids(checked)
  else
    assert(err.kind == "data" and err.message:find "^the data has %d+ problem", err.message)
  end
end
