--- Who spent how many tokens on what: by stage, over all processes of a run, since answers
--- from the journal count like new ones.
local json = require "rt.json"

local M = {}

local FIELDS = { "calls", "prompt_tokens", "completion_tokens", "estimated" }

local function row_of(table_, name)
  local row = table_[name]
  if not row then
    row = { calls = 0, prompt_tokens = 0, completion_tokens = 0, estimated = 0 }
    table_[name] = row
  end
  return row
end

local NOTHING <const> = {}

local function count(row, usage)
  row.calls = row.calls + 1
  row.prompt_tokens = row.prompt_tokens + (usage.prompt_tokens or 0)
  row.completion_tokens = row.completion_tokens + (usage.completion_tokens or 0)
  if usage.estimated then row.estimated = row.estimated + 1 end
end

local function count_model(models, name, usage)
  local sum = models[name]
  if not sum then
    sum = { prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0 }
    models[name] = sum
  end
  sum.prompt_tokens = sum.prompt_tokens + (usage.prompt_tokens or 0)
  sum.completion_tokens = sum.completion_tokens + (usage.completion_tokens or 0)
  sum.cached_tokens = sum.cached_tokens + (usage.cached_tokens or 0)
end

local function copy(stages)
  local out = {}
  for name, row in pairs(stages) do
    out[name] = {}
    for _, field in ipairs(FIELDS) do out[name][field] = row[field] end
  end
  return out
end

--- What was added to the stages since `mark`.
local function difference(stages, mark)
  local out = json.object {}
  for name, row in pairs(stages) do
    local old, new = mark[name] or {}, {}
    for _, field in ipairs(FIELDS) do new[field] = row[field] - (old[field] or 0) end
    if new.calls > 0 then out[name] = new end
  end
  return out
end

--- Each row with its total, and `_total` of all.
local function total(source)
  local out, sum = json.object {},
    { calls = 0, prompt_tokens = 0, completion_tokens = 0, estimated = 0 }
  for name, row in pairs(source) do
    out[name] = { total_tokens = row.prompt_tokens + row.completion_tokens }
    for _, field in ipairs(FIELDS) do
      out[name][field] = row[field]
      sum[field] = sum[field] + row[field]
    end
  end
  sum.total_tokens = sum.prompt_tokens + sum.completion_tokens
  out._total = sum
  return out
end

--- Give a run its counters.
---@param run table
function M.attach(run)
  local stages, roles, calls = {}, {}, 0

  local rows = { target = {}, optimizer = {} } -- by stage, in `roles`
  local models = {}

  --- Count an answer the program received.
  function run.tally(role, stage, answer, model)
    calls = calls + 1
    count_model(models, model, answer.usage or NOTHING)
    rows[role][stage] = rows[role][stage] or row_of(roles, role .. "/" .. stage)
    count(row_of(stages, stage), answer.usage or NOTHING)
    count(rows[role][stage], answer.usage or NOTHING)
  end

  function run.calls() return calls end

  function run.token_mark() return copy(stages) end

  --- What was added since a mark, by stage.
  function run.tokens_since(mark) return difference(stages, mark) end

  --- Totals by stage and `_total`, as in `summary.json`.
  function run.token_summary() return total(stages) end

  --- Tokens by model, as rt.ledger takes a usage.
  ---@return table<string, rt.model.usage>
  function run.model_usage() return models end

  --- Totals by role and stage.
  function run.token_table() return total(roles) end
end

return M
