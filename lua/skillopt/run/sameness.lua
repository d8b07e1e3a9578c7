--- What two runs of the same program must have in common, file by file: every byte but the
--- fields that may differ (times, speeds, where and how a run works).
local json = require "rt.json"
local record = require "skillopt.record"
local schema = require "skillopt.schema"

local M = {}

local WITH_FACTS <const> = {
  ["run.json"] = true, ["config.json"] = true, ["history.json"] = true, ["summary.json"] = true,
  ["eval_summary.json"] = true,
}

--- Does a file of a run hold fields that may differ, or the machine's own facts?
---@param name string in the run folder
---@return boolean
function M.has_facts(name)
  return WITH_FACTS[name] or name:find "step_record%.json$" ~= nil
end

--- Of the card, keys of class `run`, where values came from, and the program's version may
--- differ; a replay has only those sources that it came to use, and the journal checks them.
local function card(value, is_replay)
  local config = {}
  for name, row in pairs(value.config or {}) do
    if row.class == "result" then config[name] = row.value end
  end
  local identity = value.identity or {}
  if is_replay then identity.sources = nil end
  return { identity = identity, config = config }
end

--- The flat configuration without what says where and how a run works.
local function results_only(flat)
  for _, key in ipairs(schema.core.list) do
    local name = key.flat or key.name:match "^env%.(.+)$"
    if name and key.class ~= "result" then flat[name] = nil end
  end
  return flat
end

--- A file's text without what may differ; a text that is no JSON, though its name says so,
--- stays as it is.
---@param name string in the run folder
---@param text string
---@param is_replay boolean? is it compared with what a replay gives?
---@return string
function M.normal(name, text, is_replay)
  if not name:find "%.json$" then return text end
  local value = json.decode(text)
  if type(value) ~= "table" then return text end
  if name == "run.json" then value = card(value, is_replay) end
  if name == "config.json" then value = results_only(value) end
  if name == "summary.json" and value.config then value.config = results_only(value.config) end
  return json.canonical(record.comparable(value))
end

return M
