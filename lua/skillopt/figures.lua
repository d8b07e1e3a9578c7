--- Tables for a terminal: columns as wide as their widest cell, numbers to the right.
local text_of = require "rt.text"

local M = {}

--- Blanks between two columns.
local GAP <const> = "  "

--- Widths of the columns. The last cell of a row that is shorter than the first one may be
--- as long as it likes.
local function widths_of(rows)
  local widths = {}
  for _, row in ipairs(rows) do
    local last = #row < #rows[1] and #row - 1 or #row
    for i = 1, last do widths[i] = math.max(widths[i] or 0, text_of.length(row[i])) end
  end
  return widths
end

local function padded(cell, width, to_left)
  local blanks = (" "):rep((width or 0) - text_of.length(cell))
  return to_left and cell .. blanks or blanks .. cell
end

--- Lines of a table. A row that is shorter than the first may end with words instead of
--- figures: they stand to the left.
---@param rows string[][] the first is the heading
---@param left integer number of columns, from the first, that stand to the left
---@return string[] lines
function M.lines(rows, left)
  local widths, lines = widths_of(rows), {}
  for k, row in ipairs(rows) do
    local cells = {}
    local words = #row < #rows[1] and #row or 0
    for i, cell in ipairs(row) do
      cells[i] = padded(cell, widths[i], i <= left or i == words)
    end
    lines[k] = (table.concat(cells, GAP):gsub(" +$", ""))
  end
  return lines
end

return M
