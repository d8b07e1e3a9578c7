--- A run folder as it lies there, read for people: of this program or of the reference, gone
--- on with or ended. The files are untrusted; what is missing or damaged is listed, and the
--- rest is read.
local file = require "rt.file"
local folder_of = require "skillopt.run.folder"
local json = require "rt.json"
local lock = require "rt.lock"
local schedule = require "skillopt.schedule"
local skill_of = require "skillopt.skill"

local M = {}

---@class skillopt.RunView
---@field path string
---@field is_reference boolean it has no journal
---@field config table flat, as config.json has it
---@field card table? run.json
---@field state table runtime_state.json
---@field summary table?
---@field evaluation table? eval_summary.json
---@field is_evaluation boolean it holds an evaluation, no training
---@field history table[] records of the steps
---@field missing string[] files that every run has and this one has not
---@field damaged string[] files that cannot be read, with why
local View = {}
View.__index = View

local MOST_LINES <const> = 1000000

--- A file of the folder as JSON; nil when it is missing or damaged.
---@param name string
---@param is_expected boolean? note when it is missing
---@return any
function View:json(name, is_expected)
  local path = self.path .. "/" .. name
  if file.kind(path) == "none" then
    if is_expected then self.missing[#self.missing + 1] = name end
    return nil
  end
  local text, err = file.read(path)
  local value
  if text then
    value, err = json.decode(text, { allow_nan = true, allow_big = true, fix_utf8 = true })
  end
  if type(value) == "table" then return value end
  local why = err and err.message or "not an object"
  self.damaged[#self.damaged + 1] = string.format("%s: %s", name, why)
end

--- The lines of a file as JSON; a torn last line is left out, any other is damage.
---@param name string
---@return table[] rows
function View:lines(name)
  local text = file.read(self.path .. "/" .. name)
  local rows, number = {}, 0
  for line, ending in (text or ""):gmatch "([^\n]*)(\n?)" do
    number = number + 1
    local row = line ~= "" and number < MOST_LINES
      and json.decode(line, { allow_nan = true, allow_big = true, fix_utf8 = true })
    if type(row) == "table" then
      rows[#rows + 1] = row
    elseif line ~= "" and ending ~= "" then
      self.damaged[#self.damaged + 1] = string.format("%s: line %d is no JSON object", name, number)
      break
    end
  end
  return rows
end

--- Text of a file of the folder.
---@param name string
---@return string?
function View:text(name)
  return (file.read(self.path .. "/" .. name))
end

--- Names in a folder below, "" for none.
---@param name string
---@return string[]
function View:list(name)
  return file.list(self.path .. "/" .. name) or {}
end

-------------------------------------------------------------------------- history

--- Records of the steps from their own folders, for a run whose history.json is gone.
local function step_records(view)
  local found = {}
  for _, name in ipairs(view:list "steps") do
    local record = name:find "^step_%d+$" and view:json("steps/" .. name .. "/step_record.json")
    if record then found[#found + 1] = record end
  end
  return found
end

local function history_of(view)
  local history = view:json("history.json", #view:list "steps" > 0)
  local records = {}
  for _, record in ipairs(history or step_records(view)) do
    if type(record) == "table" and math.type(record.step) then records[#records + 1] = record end
  end
  return records
end

--- The record of a step; nil when there is none.
---@param number integer
---@return table?
function View:record(number)
  for _, record in ipairs(self.history) do
    if record.step == number then return record end
  end
end

--------------------------------------------------------------------------- state

--- Who works there: "running", or nil.
local function busy(path)
  local at = path .. "/run.lock"
  if file.kind(at) ~= "file" then return nil end
  local held = lock.acquire(at, { shared = true })
  if not held then return "running" end
  held:release()
end

local function planned(view)
  local c = view.config
  local per_epoch = math.tointeger(c.steps_per_epoch)
  local data = view.card and view.card.identity and view.card.identity.data
  local n = data and data.train and data.train.n
  if not per_epoch and n and c.batch_size and c.accumulation then
    per_epoch = schedule.steps_per_epoch(n, c.batch_size, c.accumulation)
  end
  return per_epoch and c.num_epochs and per_epoch * c.num_epochs or nil
end

--- How the run stands: "running", "ended" or "stopped", and the steps done and planned.
---@return string word
---@return integer done
---@return integer? planned
function View:standing()
  local done = #self.history
  local has_ended = self.summary or self.evaluation
  local word = busy(self.path) or has_ended and "ended" or "stopped"
  return word, done, planned(self)
end

-------------------------------------------------------------------------- skills

local function file_of(view, word)
  if word == "best" then return "best_skill.md" end
  if word == "initial" then return "skills/skill_v0000.md" end
  if word == "last" then
    local newest
    for _, name in ipairs(view:list "skills") do
      if name:find "^skill_v%d+%.md$" then newest = name end
    end
    return newest and "skills/" .. newest
  end
  local n = word:find "^%d+$" and math.tointeger(tonumber(word))
  return n and string.format("skills/skill_v%04d.md", n)
end

--- A version of the skill: a step's number, `initial`, `best` or `last`.
---@param word string
---@return string? text
---@return string|skillopt.Err name of the file, or the error
function View:skill(word)
  local name = file_of(self, word)
  if not name then
    return nil, { kind = "usage", retry = false,
      message = string.format("there is no skill '%s'", word),
      hint = "a step's number (0 is the initial one), initial, best or last" }
  end
  local text = self:text(name)
  if text then return text, name end
  return nil, { kind = "usage", message = string.format("%s has no %s", self.path, name),
    hint = string.format("steps on record: %d", #self.history), retry = false }
end

--- Tokens of the skill after a step: body and regions apart, as the record has them or as
--- the file gives them; nil when neither does.
---@param record table
---@return integer? body
---@return integer? regions
function View:skill_tokens(record)
  if record.skill_body_tokens then
    return record.skill_body_tokens, record.skill_region_tokens or 0
  end
  local text = self:text(string.format("skills/skill_v%04d.md", record.step))
  if not text then return record.skill_tokens, nil end
  local value = skill_of.new(text)
  local body = require("rt.text").tokens(value.body or text)
  return body, math.max(value.tokens - body, 0)
end

local function is_evaluation(view)
  local identity = view.card and view.card.identity
  return view.evaluation ~= nil or type(identity) == "table" and identity.kind ~= nil
end

--- Read the folder.
---@param path string of a run, as `runs.find` gives it
---@return skillopt.RunView? view
---@return skillopt.Err? err nothing of the run can be read
function M.open(path)
  local view = setmetatable({ path = path, missing = {}, damaged = {} }, View)
  view.is_reference = not folder_of.has_journal(path)
  view.evaluation = view:json "eval_summary.json"
  view.card = not view.is_reference and view:json("run.json", true) or nil
  view.is_evaluation = is_evaluation(view)
  view.config = view:json("config.json", not view.evaluation) or {}
  view.state = view:json("runtime_state.json", not view.is_evaluation) or {}
  view.summary = view:json("summary.json")
  view.history = history_of(view)
  local is_readable = view.evaluation or next(view.config) or #view.history > 0
  if #view.damaged == 0 or is_readable then return view end
  return nil, { kind = "io", retry = false,
    message = string.format("%s is damaged:\n  %s", path, table.concat(view.damaged, "\n  ")),
    hint = view.is_reference and "restore it from a copy"
      or "`skillopt replay " .. path .. "` writes the files anew from the journal" }
end

return M
