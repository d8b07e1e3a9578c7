--- `skillopt list envs|policies|backends|commands|runs`: what there is.
local cli = require "skillopt.cli"
local file = require "rt.file"
local json = require "rt.json"
local listing = require "skillopt.listing"
local names = require "skillopt.names"
local stdout = require "rt.stdout"

local M = { summary = cli.commands.list.summary }

local WHAT <const> = { "envs", "policies", "backends", "commands", "runs" }

local function unknown(word)
  local near = word and names.nearest(word, WHAT)
  return nil, { kind = "usage", retry = false,
    message = word and string.format("there is no list of '%s'", word) or "a list of what?",
    hint = near and string.format("did you mean `skillopt list %s`?", near)
      or "one of " .. table.concat(WHAT, ", ") }
end

local function is_list(word)
  for _, name in ipairs(WHAT) do
    if name == word then return true end
  end
  return false
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("list", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local word = line.arguments[1]
  if not is_list(word) then return unknown(word) end
  local root = line.options.root
  if root and word ~= "runs" then
    return nil, { kind = "usage", message = "--root is for `skillopt list runs`", retry = false }
  elseif root and file.kind(root) ~= "folder" then
    return nil, { kind = "usage", message = "there is no folder " .. root, retry = false,
      hint = "--root names the folder of the runs, outputs by default" }
  end
  local list = listing[word](root)
  if line.options.json then
    stdout.write(json.encode(json.array(list.rows), { indent = true, keys = list.fields }) .. "\n")
  elseif #list.rows == 0 then
    stdout.write("none\n")
  else
    stdout.write(listing.page(list))
  end
  return 0
end

return M
