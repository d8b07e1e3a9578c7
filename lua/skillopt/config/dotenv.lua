--- The file `.env`: one `NAME=value` a line, `export` before it allowed, `#` starts a
--- comment. Quotes around a value are taken off; in double quotes `\n`, `\"`, `\\` and
--- `\$` mean what they mean in a shell. Nothing is expanded.
local M = {}

local ESCAPES <const> = { n = "\n", t = "\t", ['"'] = '"', ["\\"] = "\\", ["$"] = "$" }

--- Nothing but a comment may stand behind a closing quote.
local function is_end(rest) return rest:find "^%s*$" or rest:find "^%s+#" end

--- What stands between double quotes; nil when the text does not end behind them.
local function double_quoted(rest)
  local at = 2
  while true do
    at = rest:find('["\\]', at)
    if not at then return nil end
    if rest:sub(at, at) == '"' then break end
    at = at + 2
  end
  if not is_end(rest:sub(at + 1)) then return nil end
  return (rest:sub(2, at - 1):gsub("\\(.)", ESCAPES))
end

local function value_of(rest)
  local single = rest:match "^'([^']*)'%s*$" or rest:match "^'([^']*)'%s+#"
  if single then return single end
  if rest:find '^"' then return double_quoted(rest) end
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
