--- Where runs are: a folder, `outputs/NAME/latest`, the name of an experiment, its file.
local file = require "rt.file"
local names = require "skillopt.names"
local opening = require "skillopt.config.open"
local parts = require "skillopt.run.parts"
local refuse = require "skillopt.refuse"

local M = {}

--- Folder of the runs, below the working directory.
M.ROOT = "outputs"

-- One of these makes a folder that of a run.
local MARKS <const> = { "journal.db", "history.json", "config.json", "runtime_state.json",
  "summary.json", "eval_summary.json" }

--- Is this the folder of a run, of this program or the reference?
---@param path string
---@return boolean
function M.is_run(path)
  for _, name in ipairs(MARKS) do
    if file.kind(path .. "/" .. name) == "file" then return true end
  end
  return file.kind(path .. "/steps") == "folder"
end

--- The path relative to the working directory when it lies below, links resolved.
local function settled(path)
  local absolute, here = file.absolute(path), file.absolute "."
  if not absolute or not here then return path end
  if absolute:sub(1, #here + 1) == here .. "/" then return absolute:sub(#here + 2) end
  return absolute
end

--- Experiments that have runs.
---@param root string?
---@return string[]
function M.experiments(root)
  local found = {}
  root = root or M.ROOT
  for _, name in ipairs(file.list(root) or {}) do
    if file.kind(root .. "/" .. name) == "folder" then found[#found + 1] = name end
  end
  return found
end

local function runs_below(folder)
  local found = {}
  if M.is_run(folder) then found[1] = folder end
  for _, name in ipairs(file.list(folder) or {}) do
    local path = folder .. "/" .. name
    if name ~= "latest" and M.is_run(path) then found[#found + 1] = path end
  end
  return found
end

--- Folders of an experiment's runs, the oldest first.
---@param root string
---@param experiment string
---@return string[]
function M.folders(root, experiment)
  return runs_below(root .. "/" .. experiment)
end

--- The newest run below a folder, or the folder itself.
local function newest(folder)
  if M.is_run(folder) then return settled(folder) end
  local latest = folder .. "/latest"
  if file.kind(latest) == "folder" and M.is_run(latest) then return settled(latest) end
  local all = runs_below(folder)
  return all[#all] and settled(all[#all])
end

--- Where the runs of an experiment's file are.
local function folder_of(path)
  local request = opening.request { file = path, assignments = {}, arguments = {}, options = {} }
  local config, err = require("skillopt.config").examine(request)
  if not config then return nil, err end
  local out_root = config:get "env.out_root"
  if out_root and out_root ~= "" then return out_root end
  return M.ROOT .. "/" .. parts.experiment_name(path, config:get "name")
end

local function by_file(path)
  local folder, err = folder_of(path)
  if not folder then return nil, err end
  local found = newest(folder)
  if found then return found end
  return refuse("usage", string.format("%s has no run in %s", path, folder),
    "`skillopt run " .. path .. "` makes one")
end

local function unknown(word)
  local near = names.nearest(word, M.experiments())
  return refuse("usage", string.format("there is no run '%s'", word),
    near and string.format("did you mean %s?", near) or "`skillopt list runs` lists them")
end

--- The folder of the run that is meant.
---@param word string a folder, the name of an experiment, or its file
---@return string? path
---@return skillopt.Err? err
function M.find(word)
  word = word:match "^(.-)/*$" ~= "" and word:match "^(.-)/*$" or word
  local kind = file.kind(word)
  if kind == "file" and word:find "%.lua$" or kind == "file" and word:find "%.ya?ml$" then
    return by_file(word)
  elseif kind == "folder" then
    local found = newest(word)
    if found then return found end
    if not word:find "/" and newest(M.ROOT .. "/" .. word) then
      return newest(M.ROOT .. "/" .. word)
    end
    return refuse("io", word .. " holds no run",
      "a run has journal.db, history.json or config.json")
  end
  if word:find "/" then
    return refuse("usage", "there is no " .. word, "`skillopt list runs` lists those below outputs")
  end
  local found = file.kind(M.ROOT .. "/" .. word) == "folder" and newest(M.ROOT .. "/" .. word)
  if found then return found end
  return unknown(word)
end

return M
