--- Game files: the folder they are in, an item's file below it, what its path says.
local M = {}

--- The variable that names the data root, and where it is otherwise.
M.VARIABLE = "ALFWORLD_DATA"
M.DEFAULT = "~/.cache/alfworld"

--- First match wins; the order is the reference's.
local TASK_TYPES <const> = {
  "pick_and_place", "pick_two_obj_and_place", "look_at_obj_in_light",
  "pick_heat_then_place_in_recep", "pick_cool_then_place_in_recep",
  "pick_clean_then_place_in_recep",
}

------------------------------------------------------------------------ the data root

local function filled(text)
  return type(text) == "string" and text:match "^%s*(.-)%s*$" or ""
end

--- `~` and `$NAME` of a path; a variable that is not set stays as it is written.
local function expand(path, getenv)
  path = path:gsub("^~%f[/\0]", function() return getenv "HOME" end)
  path = path:gsub("%$(%a[%w_]*)", getenv)
  return (path:gsub("%${(%a[%w_]*)}", getenv))
end

--- The data root: `env.data_root`, else the variable, else the usual folder.
---@param opt {data_root: string?}
---@param getenv (fun(name: string): string?)? for tests
---@return string root without a slash at its end
---@return string origin who says so, in words
function M.root(opt, getenv)
  getenv = getenv or os.getenv
  local given, origin = filled(opt.data_root), "env.data_root"
  if given == "" then given, origin = filled(getenv(M.VARIABLE)), M.VARIABLE end
  if given == "" then given, origin = M.DEFAULT, M.VARIABLE .. " is not set" end
  local root = expand(given, getenv):gsub("/+$", "")
  return root, origin
end

------------------------------------------------------------------------ an item's file

--- The parts of a path without empty ones and `.`; nil when one is `..`.
local function parts_of(path)
  local parts = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." then return nil end
    if part ~= "." then parts[#parts + 1] = part end
  end
  return parts
end

--- Where a game is. An absolute path must lie in the root; none leads out of it.
---@param gamefile string as the manifest has it
---@param root string
---@return string? path
---@return string? why
function M.path(gamefile, root)
  if gamefile:sub(1, 1) == "/" then
    if gamefile:sub(1, #root + 1) ~= root .. "/" then
      return nil, ("%s lies outside of %s"):format(gamefile, root)
    end
    gamefile = gamefile:sub(#root + 2)
  end
  local parts = parts_of(gamefile)
  if not parts or gamefile:find "%c" then
    return nil, ("%s is no path to a game"):format(gamefile)
  end
  if #parts == 0 then return nil, "the path of the game is empty" end
  return root .. "/" .. table.concat(parts, "/")
end

local function hint(opt)
  local root, origin = M.root(opt)
  return ("looked in %s (%s); `skillopt data fetch alfworld` gets the games, "
    .. "env.data_root or %s names the folder they are in"):format(root, origin, M.VARIABLE)
end

--- The bytes of a file of the data root.
---@param gamefile string
---@param opt {data_root: string?}
---@return string? bytes
---@return string? why
---@return string? hint
function M.read(gamefile, opt)
  local path, why = M.path(gamefile, (M.root(opt)))
  if not path then return nil, why end
  local file, message = io.open(path)
  if not file then return nil, message, hint(opt) end
  return file:read "a"
end

--- The file of that name in the game's folder.
---@param gamefile string
---@param name string
---@return string
function M.beside(gamefile, name)
  return (gamefile:match "^(.*/)" or "") .. name
end

------------------------------------------------------------------------ what a path says

--- The task type that the path names, else "other".
---@param gamefile string
---@return string
function M.task_type(gamefile)
  for _, name in ipairs(TASK_TYPES) do
    if gamefile:find(name, 1, true) then return name end
  end
  return "other"
end

--- The part of the benchmark a game belongs to.
---@param gamefile string
---@return "train"|"eval_in_distribution"|"eval_out_of_distribution"
function M.dataset(gamefile)
  if gamefile:find("/valid_seen/", 1, true) then return "eval_in_distribution" end
  if gamefile:find("/valid_unseen/", 1, true) then return "eval_out_of_distribution" end
  return "train"
end

return M
