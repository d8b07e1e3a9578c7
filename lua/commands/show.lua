--- `skillopt show RUN [STEP]`: look at a run, one of its steps, its skills.
local cli = require "skillopt.cli"
local evaluation = require "skillopt.show.evaluation"
local facts = require "skillopt.show.facts"
local json = require "rt.json"
local linediff = require "skillopt.linediff"
local page = require "skillopt.show.page"
local reading = require "skillopt.run.reading"
local refuse = require "skillopt.refuse"
local runs = require "skillopt.runs"
local stdout = require "rt.stdout"
local visible = require "skillopt.visible"

local M = { summary = cli.commands.show.summary }

local DAMAGED <const> = 6

--- Texts of a run go to a file as they are, to a screen without its controls.
local function write(text)
  stdout.write(stdout.is_terminal() and visible.text(text) or text)
end

local function write_json(value)
  stdout.write(json.encode(value, { indent = true }) .. "\n")
end

local function show_skill(view, options)
  local text, name = view:skill(options.skill)
  if not text then return nil, name end
  if not options.diff then
    if options.json then write_json { skill = name, text = text } else write(text) end
    return 0
  end
  local old, old_name = view:skill(options.diff)
  if not old then return nil, old_name end
  local diff = linediff.unified(old, text, { old = old_name, new = name })
  if options.json then write_json { old = old_name, new = name, diff = diff } else write(diff) end
  return 0
end

local function show_step(view, word, options)
  local number = math.tointeger(tonumber(word))
  local record = number and view:record(number)
  if not record then
    local last = view.history[#view.history]
    return refuse("usage", string.format("%s has no step %s", view.path, word),
      last and string.format("the last step on record is %d", last.step)
        or "no step has ended yet")
  end
  local step = facts.step(view, record)
  if options.json then write_json(step) else stdout.write(page.step(step)) end
  return #view.damaged > 0 and DAMAGED or 0
end

local function show_run(view, options)
  local run = view.is_evaluation and evaluation.facts(view) or facts.run(view)
  if options.json then
    write_json(run)
  else
    stdout.write(view.is_evaluation and evaluation.page(run) or page.run(run))
  end
  return #view.damaged > 0 and DAMAGED or 0
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("show", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local word, step = line.arguments[1], line.arguments[2]
  if not word then return refuse("usage", "which run?", "`skillopt list runs` lists them") end
  local path, path_err = runs.find(word)
  if not path then return nil, path_err end
  local view, view_err = reading.open(path)
  if not view then return nil, view_err end
  local o = line.options
  if o.diff and not o.skill then
    return refuse("usage", "--diff needs --skill: from which to which?")
  end
  if o.skill and step then
    return refuse("usage", "a step or --skill, not both", "skillopt show RUN --skill " .. step)
  end
  if o.skill then return show_skill(view, o) end
  if step then return show_step(view, step, o) end
  return show_run(view, o)
end

return M
