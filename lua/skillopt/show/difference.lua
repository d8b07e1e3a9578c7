--- Two runs beside each other: what was set differently, which items one has and the other
--- has not, how their skills differ.
local arms_of = require "skillopt.run.arms"
local figures = require "skillopt.figures"
local compare = require "skillopt.compare"
local json = require "rt.json"
local linediff = require "skillopt.linediff"
local visible = require "skillopt.visible"

local M = {}

--------------------------------------------------------------------- configuration

local function entries(x) return type(x) == "table" and x or {} end

local function equal(a, b)
  if type(a) ~= type(b) then return false end
  return a == b or type(a) == "table" and json.canonical(a) == json.canonical(b)
end

--- What differs between two tables, by key.
local function changes(a, b)
  local keys, out = {}, json.array {}
  for k in pairs(a) do keys[tostring(k)] = true end
  for k in pairs(b) do keys[tostring(k)] = true end
  for k in pairs(keys) do
    if not equal(a[k], b[k]) then
      local function shown(x) if x == nil then return json.null end return x end
      out[#out + 1] = { key = k, a = shown(a[k]), b = shown(b[k]) }
    end
  end
  return out
end

local function identity(view) return entries(entries(view.card).identity) end

--- Names of what differs: code, prompts, data, the program.
local function contents(a, b)
  local x, y, out = identity(a), identity(b), json.array {}
  for _, one in ipairs(changes(entries(x.sources), entries(y.sources))) do
    out[#out + 1] = "source " .. one.key
  end
  for _, one in ipairs(changes(entries(x.data), entries(y.data))) do
    out[#out + 1] = "data " .. one.key
  end
  if x.skill ~= y.skill then out[#out + 1] = "initial skill" end
  if x.version ~= y.version then out[#out + 1] = "version of the program" end
  return out
end

----------------------------------------------------------------------------- items

--- Rows of an evaluation as `compare.pair` takes them. Of repeats the mean counts.
local function marked(rows)
  local value, order, marks = {}, {}, {}
  for _, row in ipairs(rows) do
    local id, hard = row.id, row.hard
    if id ~= nil and type(hard) == "boolean" then hard = hard and 1 or 0 end
    if id ~= nil and type(hard) == "number" then
      id = tostring(id)
      if not marks[id] then
        marks[id] = { hard = {}, soft = {} }
        order[#order + 1] = id
      end
      table.insert(marks[id].hard, hard)
      table.insert(marks[id].soft, type(row.soft) == "number" and row.soft or hard)
    end
  end
  function value.ids() return order end
  function value.marks(_, id, name) return marks[id] and marks[id][name] or {} end
  return value
end

local function mean(list)
  local sum = 0.0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

--- Ids by who has the better mark.
local function by_winner(old, new)
  local won, lost = json.array {}, json.array {}
  for _, id in ipairs(old.ids()) do
    local a, b = old:marks(id, "hard"), new:marks(id, "hard")
    if #a > 0 and #b > 0 and mean(a) ~= mean(b) then
      local list = mean(b) > mean(a) and won or lost
      list[#list + 1] = id
    end
  end
  return won, lost
end

--- Folder of the best skill's evaluation on the selection set.
local function selection_folder(view)
  local last = view.history[#view.history] or {}
  local step = math.tointeger(entries(view.summary).best_step or last.best_step) or 0
  if step == 0 then return "selection_eval_baseline" end
  return string.format("steps/step_%04d/selection_eval", step)
end

local function items(title, a, b, folders)
  local old, new = marked(a:lines(folders.a .. "/results.jsonl")),
    marked(b:lines(folders.b .. "/results.jsonl"))
  local pairing = compare.pair(old, new)
  local won, lost = by_winner(old, new)
  return { set = title, pairing = pairing, won = won, lost = lost, n_a = #old.ids(),
    n_b = #new.ids() }
end

----------------------------------------------------------------------------- whole

--- What differs, as data: `b` against `a`.
---@param a skillopt.RunView
---@param b skillopt.RunView
---@return table
function M.of(a, b)
  local old, new = a:text "best_skill.md", b:text "best_skill.md"
  local skill
  if old and new then
    skill = linediff.unified(old, new, { old = a.path .. "/best_skill.md",
      new = b.path .. "/best_skill.md" })
  end
  return {
    a = a.path, b = b.path, configuration = changes(a.config, b.config),
    contents = contents(a, b),
    items = json.array {
      items("test, best skills", a, b, { a = "test_eval", b = "test_eval" }),
      items("selection, best skills", a, b,
        { a = selection_folder(a), b = selection_folder(b) }),
    },
    skill = skill or json.null,
  }
end

local function shown(value)
  if value == json.null then return "(nothing)" end
  if type(value) == "string" then return visible.line(value, 60) end
  return visible.line(json.encode(value), 60)
end

local function configuration_lines(d)
  local lines = {}
  for _, one in ipairs(d.configuration) do
    lines[#lines + 1] = string.format("  %s: %s -> %s", visible.line(one.key, 60), shown(one.a),
      shown(one.b))
  end
  for _, what in ipairs(d.contents) do
    lines[#lines + 1] = "  changed: " .. visible.line(what, 200)
  end
  if #lines == 0 then return { "configuration: the same" } end
  return { "configuration:", table.unpack(lines) }
end

local MOST_IDS <const> = 20

local function ids(list)
  local shown_ids = table.move(list, 1, math.min(#list, MOST_IDS), 1, {})
  local more = #list > MOST_IDS and string.format(" and %d more", #list - MOST_IDS) or ""
  return visible.line(table.concat(shown_ids, " "), 2000) .. more
end

local function item_lines(d)
  local rows = { arms_of.pair_heading "items" }
  for _, one in ipairs(d.items) do
    local is_there = one.n_a > 0 and one.n_b > 0
    rows[#rows + 1] = is_there and arms_of.pair_row("  " .. one.set, one.pairing)
      or { "  " .. one.set, "not measured in both" }
  end
  local lines = figures.lines(rows, 1)
  for _, one in ipairs(d.items) do
    if #one.won > 0 then lines[#lines + 1] = one.set .. ", won: " .. ids(one.won) end
    if #one.lost > 0 then lines[#lines + 1] = one.set .. ", lost: " .. ids(one.lost) end
  end
  return lines
end

--- The same for people.
---@param d table as `of` gives it
---@return string
function M.page(d)
  local lines = { string.format("a: %s", visible.line(d.a, 200)),
    string.format("b: %s", visible.line(d.b, 200)) }
  for _, list in ipairs { configuration_lines(d), item_lines(d) } do
    table.move(list, 1, #list, #lines + 1, lines)
  end
  local skill = d.skill == json.null and "best skills: not there in both"
    or d.skill == "" and "best skills: the same" or "best skills:\n" .. visible.text(d.skill)
  return table.concat(lines, "\n") .. "\n" .. skill:gsub("\n$", "") .. "\n"
end

return M
