--- Names that people mistype.
local M = {}

local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local corner = row[0]
    row[0] = i
    for j = 1, #b do
      local up = row[j]
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(up + 1, row[j - 1] + 1, corner + cost)
      corner = up
    end
  end
  return row[#b]
end

--- The name nearest to `word`, or nil when none is near (a third of its length).
---@param word string
---@param names string[]
---@return string?
function M.nearest(word, names)
  local best, best_distance
  for _, name in ipairs(names) do
    local d = distance(word, name)
    if d <= #word // 3 + 1 and (not best or d < best_distance) then
      best, best_distance = name, d
    end
  end
  return best
end

return M
