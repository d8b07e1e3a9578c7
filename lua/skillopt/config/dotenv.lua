--- The file `.env`: one `NAME=value` a line, `export` before it allowed, `#` starts a
--- comment. Quotes around a value are taken off; in double quotes `\n`, `\"`, `\\` and
--- `\$` mean what they mean in a shell. Nothing is expanded.
local M = {}

local ESCAPES <const> = { n = "\n", t = "\t", ['"'] = '"', ["\\"] = "\\", ["$"] = "$" }

local function value_of(rest)
  local single = rest:match "^'([^']*)'%s*$" or rest:match "^'([^']*)'%s+#"
  if single then return single end
  if rest:find '^"' then
    local inside = rest:match '^"(.-)"%s*$' or rest:match '^"(.-)"%s+#'
    return inside and inside:gsub("\\(.)", function(c) return ESCAPES[c] end)
  end
  if rest:find "^'" then return nil end
  return (rest:gsub("%s+#.*$", ""):gsub("^#.*$", ""):gsub("%s+$", ""))
end

--- Variables of the text, the last of equal names counting.
---@param text string
---@return table<string, string> variables
---@return {line: integer, words: string}[] faults lines that say nothing
function M.parse(text)
  local variables, faults, number = {}, {}, 0
  text = text:gsub("^\xEF\xBB\xBF", ""):gsub("\r\n?", "\n") .. "\n"
  for line in text:gmatch "([^\n]*)\n" do
    number = number + 1
    local content = line:match "^%s*(.*)$"
    if content ~= "" and not content:find "^#" then
      content = content:gsub("^export%s+", "")
      local name, rest = content:match "^([%a_][%w_]*)%s*=%s*(.*)$"
      local value = name and value_of(rest)
      if value then
        variables[name] = value
      else
        faults[#faults + 1] = { line = number,
          words = name and name .. ": a quote is not closed" or "expected NAME=value" }
      end
    end
  end
  return variables, faults
end

return M
