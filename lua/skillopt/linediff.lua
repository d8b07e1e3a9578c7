--- What changed between two texts, as a unified diff of lines.
---
--- Equal lines at both ends are set aside; between them the longest common sequence is
--- found, as long as that is at most CELLS cells of work. Beyond, the middle is shown as
--- taken out and put in whole: right, if not the shortest way to say it.
local M = {}

local CELLS <const> = 1000000
local CONTEXT <const> = 3

local function lines_of(text)
  local lines = {}
  for line in (text:sub(-1) == "\n" and text or text .. "\n"):gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
  end
  if text == "" then lines = {} end
  return lines
end

--- Lengths of the common sequences of the rests: `lengths[i][j]` of a from i and b from j.
local function lengths_of(a, b)
  local lengths = { [#a + 1] = {} }
  for j = 1, #b + 1 do lengths[#a + 1][j] = 0 end
  for i = #a, 1, -1 do
    local row, below = { [#b + 1] = 0 }, lengths[i + 1]
    for j = #b, 1, -1 do
      row[j] = a[i] == b[j] and below[j + 1] + 1 or math.max(below[j], row[j + 1])
    end
    lengths[i] = row
  end
  return lengths
end

local function add(out, sign, line) out[#out + 1] = { sign = sign, line = line } end

local function middle(out, a, b)
  if #a * #b > CELLS then
    for _, line in ipairs(a) do add(out, "-", line) end
    for _, line in ipairs(b) do add(out, "+", line) end
    return
  end
  local lengths, i, j = lengths_of(a, b), 1, 1
  while i <= #a or j <= #b do
    if i <= #a and j <= #b and a[i] == b[j] then
      add(out, " ", a[i])
      i, j = i + 1, j + 1
    elseif j > #b or i <= #a and lengths[i + 1][j] >= lengths[i][j + 1] then
      add(out, "-", a[i])
      i = i + 1
    else
      add(out, "+", b[j])
      j = j + 1
    end
  end
end

--- All lines of both texts with their signs.
local function marked(a, b)
  local first, last = 1, 0
  while first <= #a and first <= #b and a[first] == b[first] do first = first + 1 end
  while last < math.min(#a, #b) - first + 1 and a[#a - last] == b[#b - last] do last = last + 1 end
  local out = {}
  for i = 1, first - 1 do add(out, " ", a[i]) end
  middle(out, table.move(a, first, #a - last, 1, {}), table.move(b, first, #b - last, 1, {}))
  for i = #a - last + 1, #a do add(out, " ", a[i]) end
  return out
end

--- Ranges of marked lines that lie within CONTEXT of a change.
local function hunks_of(all)
  local hunks, open = {}, nil
  for i, one in ipairs(all) do
    if one.sign ~= " " then
      if open and i - CONTEXT <= open.last + 1 then
        open.last = i + CONTEXT
      else
        open = { first = math.max(i - CONTEXT, 1), last = i + CONTEXT }
        hunks[#hunks + 1] = open
      end
    end
  end
  for _, hunk in ipairs(hunks) do hunk.last = math.min(hunk.last, #all) end
  return hunks
end

--- Line numbers behind `@@`: where the hunk begins in a file and how many lines it has.
local function range(before, n)
  return string.format("%d,%d", n == 0 and before or before + 1, n)
end

--- A unified diff; "" when the texts have the same lines.
---@param old string
---@param new string
---@param titles {old: string, new: string}
---@return string
function M.unified(old, new, titles)
  local all = marked(lines_of(old), lines_of(new))
  local hunks, out = hunks_of(all), {}
  if #hunks == 0 then return "" end
  out[1], out[2] = "--- " .. titles.old, "+++ " .. titles.new
  local at, a, b = 1, 0, 0
  for _, hunk in ipairs(hunks) do
    local body, na, nb = {}, 0, 0
    for i = at, hunk.last do
      local sign = all[i].sign
      local in_old, in_new = sign ~= "+" and 1 or 0, sign ~= "-" and 1 or 0
      if i < hunk.first then
        a, b = a + in_old, b + in_new
      else
        na, nb = na + in_old, nb + in_new
        body[#body + 1] = sign .. all[i].line
      end
    end
    out[#out + 1] = string.format("@@ -%s +%s @@", range(a, na), range(b, nb))
    table.move(body, 1, #body, #out + 1, out)
    at, a, b = hunk.last + 1, a + na, b + nb
  end
  return table.concat(out, "\n") .. "\n"
end

return M
