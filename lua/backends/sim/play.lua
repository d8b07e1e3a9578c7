--- As player of text games: does the steps that the document names for such a task, one
--- after the other, and walks round to places it has not been to when the next step is not
--- possible. Without a rule it takes what the task names and puts it where the task says.
local rng = require "rt.rng"
local command_of = require "backends.sim.play_command"
local rule_of = require "backends.sim.play_rule"

local M = {}

local NOTHING <const> = "Nothing happens."

------------------------------------------------------------------------ the request

--- The last list of the message, one command a line.
local function commands_of(user)
  local commands = {}
  for line in (user .. "\n"):gmatch "([^\n]*)\n" do
    local command = line:match "^%- (.+)$"
    if command then
      commands[#commands + 1] = command
    elseif line:find "^#" then
      commands = {}
    end
  end
  return commands
end

--- What was seen and done before, and what came of it.
local function steps_of(user, now)
  local steps = {}
  for number, words in user:gmatch "%[step (%d+)%] You saw: ([^\n]*)" do
    if steps[#steps] then steps[#steps].after = words end
    steps[#steps + 1] = { number = math.tointeger(tonumber(number)), after = now }
  end
  local i = 0
  for words in user:gmatch "%[step %d+%] You did: ([^\n]*)" do
    i = i + 1
    if steps[i] then steps[i].command = words end
  end
  return steps
end

--- What a request for a command shows; nil when it is none.
local function view_of(instructions, user)
  if not instructions:find("<action>", 1, true) then return nil end
  local task, commands = user:match "[Tt]ask is to: ([^\n]+)", commands_of(user)
  if not task or #commands == 0 then return nil end
  local now = user:match "\n## What you see\n(.-)\n## " or ""
  return { task = task, commands = commands, now = now, steps = steps_of(user, now),
    number = math.tointeger(tonumber(now:match "^This is step (%d+)")) or 1 }
end

--- Does the request show less than all steps?
local function is_cut(view)
  return view.number > #view.steps + 1
end

----------------------------------------------------------------------- what is known

--- Where the player is after each step, and the one now.
local function places_of(view)
  local places, place = {}, nil
  for i, step in ipairs(view.steps) do
    local is_done = step.after and not step.after:find(NOTHING, 1, true)
    place = is_done and command_of.destination(step.command or "") or place
    places[i] = place
  end
  return places, place
end

--- Keep in mind what a command moved: what is carried, where it came from, what was put
--- down where the way wanted it. What was put elsewhere has to be taken again.
local function note(state, command, is_step)
  local things = command_of.things(command)
  if #things == 0 then return end
  if command_of.is_take(command) then
    state.carried, state.source[things[1].name] = things[1], things[2] and things[2].name
    if is_step then state.taken_at = state.at end
  elseif command_of.is_put(command) then
    state.carried = nil
    if is_step then state.put[things[1].name] = true else state.at = state.taken_at or state.at end
  end
end

local function advance(state, way, since)
  state.at, state.since = state.at % #way + 1, since
  if state.at == 1 then state.round = state.round + 1 end
end

local function is_carried(view, step, state)
  local carried = state.carried
  return carried and command_of.is_take(step) and command_of.does(step, "take " .. carried.name,
    view.task)
end

--- Which step of the way comes next, since when, and what became of things. A way that is
--- done begins again.
local function progress(view, way)
  local state = { at = 1, round = 1, since = 1, put = {}, here = {}, source = {},
    is_plain = way == rule_of.PLAIN }
  for i, step in ipairs(view.steps) do
    local command = step.command or ""
    if command_of.destination(command) then state.here = {} end
    state.here[command] = true
    if not (step.after or ""):find(NOTHING, 1, true) then
      local is_step = command_of.does(way[state.at], command, view.task)
      note(state, command, is_step)
      if is_step then advance(state, way, i + 1) end
    end
  end
  if is_carried(view, way[state.at], state) then advance(state, way, state.since) end
  return state
end

--- Would the command undo something: take what was put down or lies where it belongs, put
--- it back where it was?
local function undoes(view, command, state)
  local things = command_of.things(command)
  if #things == 0 then return false end
  if command_of.is_take(command) then
    local belongs = state.is_plain and things[2] and command_of.is_named(view.task, things[2].kind)
    return state.put[things[1].name] or belongs
  end
  return command_of.is_put(command) and things[2] and state.source[things[1].name] == things[2].name
end

--- The command that does a step now and was not just done here.
local function doing(view, step, state)
  for _, command in ipairs(view.commands) do
    local is_new = not state.here[command] and not undoes(view, command, state)
    if is_new and command_of.does(step, command, view.task) then return command end
  end
end

--- The command that lays aside what is in the way of taking something else.
local function laying_aside(view, step, state)
  if not state.carried or not command_of.is_take(step) then return nil end
  for _, command in ipairs(view.commands) do
    local things = command_of.things(command)
    local is_it = things[1] and things[1].name == state.carried.name
    if is_it and command_of.is_put(command) then return command end
  end
end

--- The next step that is possible. When earlier steps are out of sight or all were done
--- once, a later one may be due.
local function next_step(view, way, state)
  local any_order = state.round > 1 or is_cut(view)
  for at = state.at, any_order and #way or state.at do
    local command = doing(view, way[at], state)
    if command then return command end
  end
end

------------------------------------------------------------------------ walking round

--- Kinds of places that a step needs, or where its thing may be, in order.
local function wanted_kinds(view, rules, step)
  local kinds = command_of.kinds(step)
  local last, out = kinds[#kinds], {}
  if not command_of.is_take(step) then return { last } end
  for kind, look in pairs(rules.looks) do
    if kind == last or last == "it" and command_of.is_named(view.task, kind) then
      table.move(look.places, 1, #look.places, #out + 1, out)
    end
  end
  return out
end

local function is_wanted(view, kinds, place)
  local kind = place:match "^(.-) %d+$" or place
  for _, wanted in ipairs(kinds) do
    local is_named = wanted == "it" and command_of.is_named(view.task, kind)
    if is_named or wanted == kind then return true end
  end
  return false
end

--- Places where a thing the step takes was seen and left.
local function seen_places(view, places, step, state)
  local out = {}
  local wanted = command_of.is_take(step) and command_of.kinds(step)[1]
  for i, done in ipairs(view.steps) do
    for _, thing in ipairs(wanted and places[i] and command_of.things(done.after or "") or {}) do
      local is_named = wanted == "it" and command_of.is_named(view.task, thing.kind)
      local is_left = not state.put[thing.name] and thing.name ~= places[i]
      if is_left and (is_named or wanted == thing.kind) then out[places[i]] = true end
    end
  end
  return out
end

--- How often a place was come to in this step of the way.
local function visits_of(view, places, state)
  local visits = {}
  for i = state.since, #view.steps do
    local place = command_of.destination(view.steps[i].command or "") and places[i]
    if place then visits[place] = (visits[place] or 0) + 1 end
  end
  return visits
end

--- How good it is to go to a place: where the thing was seen, then where it may be or is
--- needed, then to any new place, then the next one in order.
local function rank_of(search, place)
  local visits = search.visits[place] or 0
  if search.seen[place] and visits < 2 and place ~= search.here then return 5 end
  if visits > 0 or place == search.here then
    return search.here and place > search.here and 2 or 1
  end
  return is_wanted(search.view, search.kinds, place) and 4 or 3
end

--- The command that leads to the best place: of several the first, or, when earlier steps
--- are out of sight, one that changes from step to step.
local function walk(view, rules, step, state)
  local places, here = places_of(view)
  local search = { view = view, here = here, kinds = wanted_kinds(view, rules, step),
    seen = seen_places(view, places, step, state), visits = visits_of(view, places, state) }
  local best, best_rank = {}, 0
  for _, command in ipairs(view.commands) do
    local place = command_of.destination(command)
    local rank = place and rank_of(search, place) or 0
    if rank > best_rank then best, best_rank = {}, rank end
    if rank == best_rank and rank > 0 then best[#best + 1] = command end
  end
  if #best == 0 or not is_cut(view) then return best[1] end
  return best[rng.from_text("step " .. view.number):below(#best) + 1]
end

--- What the document wants done at a place before leaving it.
local function before_leaving(view, rules, here, state)
  for _, verb in ipairs(here and rules.firsts or {}) do
    for _, command in ipairs(view.commands) do
      if command == verb .. " " .. here and not state.here[command] then return command end
    end
  end
end

-------------------------------------------------------------------------- the answer

local function choose(view, rules)
  local way, rule = rule_of.way(rules, view.task)
  local state = progress(view, way)
  local step = way[state.at]
  local command = next_step(view, way, state)
  if command then
    return command, rule and "The document says how such a task is done; this is the next step."
      or "This concerns what the task names."
  end
  command = laying_aside(view, step, state)
  if command then return command, "This is not what I need." end
  local _, here = places_of(view)
  command = before_leaving(view, rules, here, state)
  if command then return command, "The document says to do this before leaving." end
  return walk(view, rules, step, state) or view.commands[1],
    ("`%s` is not possible here."):format(step)
end

--- The reply to a request for a command; nil when it is no such request.
---@param instructions string the system message, with the document
---@param user string the user message
---@param options {noise: number, seed: integer} share of turns with any command; the turns
---       of an episode have one seed, so what they show is drawn from, too
---@return string?
function M.answer(instructions, user, options)
  local view = view_of(instructions, user)
  if not view then return nil end
  local command, why = choose(view, rule_of.all(instructions))
  local random = rng.from_text(("sim %d\n%s"):format(options.seed, user))
  if random:random() < options.noise then
    command = view.commands[random:below(#view.commands) + 1]
    why = "I was not paying attention."
  end
  return ("<think>%s</think>\n<action>%s</action>"):format(why, command)
end

return M
