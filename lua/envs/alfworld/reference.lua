--- What the analysts may know of a training game and the target may not: people's words
--- for the task and its steps and the plan behind it (from `traj_data.json` beside the
--- game), or a shortest solution.
local json = require "rt.json"
local text = require "rt.text"
local solve = require "envs.alfworld.solve"

local M = {}

local DESCRIPTIONS <const>, STEPS <const> = 3, 12

local SECTIONS <const> = {
  { "task_descs", "task_desc", "The task in people's words" },
  { "high_descs", "high_descs", "Steps in people's words" },
  { "pddl_params", "pddl_params", "Parameters" },
  { "high_pddl", "plan.high_pddl", "Plan" },
  { "scene_summary", "scene", "Scene" },
}

local SCENE <const> = { "floor_plan", "scene_num", "dirty_and_empty" }

----------------------------------------------------------------------------- reading

local function is_nothing(value) return value == nil or value == json.null end

local function object(value) return type(value) == "table" and value or {} end

local function words(value)
  if is_nothing(value) then return "" end
  if type(value) == "string" then return text.strip(value) end
  return math.type(value) and json.format_number(value) or tostring(value)
end

--- Texts without blanks around them, each once, at most `limit` when that is above 0.
---@param values any[]
---@param limit integer
---@return string[]
function M.unique(values, limit)
  local out, seen = json.array {}, {}
  for _, value in ipairs(values) do
    local line = words(value)
    if line ~= "" and not seen[line] then
      seen[line], out[#out + 1] = true, line
      if #out == limit then break end
    end
  end
  return out
end

local function call_of(action)
  local name, args = words(action.action), {}
  if name == "" then return nil end
  for _, arg in ipairs(object(action.args)) do
    if words(arg) ~= "" then args[#args + 1] = words(arg) end
  end
  return #args == 0 and name or ("%s(%s)"):format(name, table.concat(args, ", "))
end

--- The steps of a plan as numbered lines; a step without an action has none.
---@param steps any[]
---@return string[]
function M.plan(steps)
  local out = json.array {}
  for i, step in ipairs(steps) do
    step = object(step)
    local call = call_of(object(step.discrete_action)) or call_of(object(step.planner_action))
    if call then out[#out + 1] = ("%d. %s"):format(i, call) end
  end
  return out
end

local function annotations(traj)
  local tasks, steps = {}, {}
  for _, one in ipairs(object(object(traj.turk_annotations).anns)) do
    one = object(one)
    tasks[#tasks + 1] = one.task_desc
    table.move(object(one.high_descs), 1, #object(one.high_descs), #steps + 1, steps)
  end
  return M.unique(tasks, DESCRIPTIONS), M.unique(steps, STEPS)
end

local function parameters(traj)
  local out = json.object {}
  for name, value in pairs(object(traj.pddl_params)) do
    if words(value) ~= "" then out[name] = value end
  end
  return out
end

local function scene(traj)
  local out, given = json.object {}, object(traj.scene)
  for _, name in ipairs(SCENE) do
    if not is_nothing(given[name]) then out[name] = given[name] end
  end
  return out
end

--- What a trajectory file says; empty when it says nothing.
---@param traj any the decoded file
---@param item table
---@return table bundle
---@return string[] fields that have content, as the file names them
function M.bundle(traj, item)
  local bundle, fields = json.object {}, json.array {}
  if type(traj) ~= "table" or next(traj) == nil then return bundle, fields end
  bundle.task_type = words(traj.task_type) ~= "" and words(traj.task_type) or words(item.task_type)
  bundle.task_descs, bundle.high_descs = annotations(traj)
  bundle.pddl_params = parameters(traj)
  bundle.high_pddl = M.plan(object(object(traj.plan).high_pddl))
  bundle.scene_summary = scene(traj)
  if bundle.task_type ~= "" then fields[1] = "task_type" end
  for _, section in ipairs(SECTIONS) do
    if next(bundle[section[1]]) ~= nil then fields[#fields + 1] = section[2] end
  end
  return bundle, fields
end

------------------------------------------------------------------------------- texts

local function body_of(value)
  local lines = {}
  if json.is_array(value) then
    for i, line in ipairs(value) do lines[i] = line:find "^%d+%. " and line or "- " .. line end
  else
    for name, one in pairs(value) do lines[#lines + 1] = ("- %s: %s"):format(name, words(one)) end
  end
  return table.concat(lines, "\n")
end

--- The bundle as text under headings; "" when there is nothing.
---@param bundle table
---@return string
function M.text(bundle)
  local parts = {}
  if bundle.task_type then parts[1] = "Task type: " .. bundle.task_type end
  for _, section in ipairs(SECTIONS) do
    local value = bundle[section[1]]
    if value and next(value) ~= nil then
      parts[#parts + 1] = section[3] .. ":\n" .. body_of(value)
    end
  end
  return table.concat(parts, "\n\n")
end

--- The text of a trajectory file; "" when it cannot be read as one.
---@param bytes string
---@param item table
---@return string
function M.from_trajectory(bytes, item)
  local traj = json.decode(bytes)
  return M.text((M.bundle(traj, item)))
end

--- A shortest solution as text; "" when the search finds none.
---@param g rt.Game at its start
---@return string
function M.from_solution(g)
  local commands = solve.way(g)
  if not commands or #commands == 0 then return "" end
  return "A shortest solution:\n" .. solve.text(commands)
end

return M
