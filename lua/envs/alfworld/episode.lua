--- One game played by the model: a prompt a turn, the command in the reply, what the game
--- says to it.
---
--- A turn is a model call. A reply without an action is a turn in which nothing is done,
--- and the next prompt says so.
local action = require "envs.alfworld.action"
local history = require "envs.alfworld.history"
local notes = require "envs.alfworld.notes"

local M = {}

local NO_ACTION <const> = "Your last reply had no complete <action> element, so nothing was done."
--- Replies in a row without an action that end the episode.
local SILENT_LIMIT <const> = 5
--- What a won game counts in the records of steps.
local REWARD <const> = 10

--- The sentence that says what to do.
---@param observation string the first one
---@return string?
function M.task(observation)
  local words = observation:match "Your task is to: (.*)$"
  words = words and words:match "^%s*(.-)%s*$"
  return words ~= "" and words or nil
end

--------------------------------------------------------------------------- the prompt

--- The commands as a prompt lists them; `help` tells nothing that the prompt does not.
local function listed(possible)
  local lines = {}
  for _, command in ipairs(possible) do
    if command ~= "help" then lines[#lines + 1] = "- " .. command end
  end
  return table.concat(lines, "\n")
end

local function prompt_of(state, ctx)
  local inputs = {
    skill = ctx.skill, current_observation = state.notice .. state.observation,
    admissible_actions = listed(state.possible),
  }
  if #state.steps == 0 then return ctx:prompt("rollout_no_history", inputs) end
  local length = ctx.opt.history_length
  inputs.task_description, inputs.step_count = state.task, #state.steps
  inputs.current_step, inputs.history_length = #state.steps + 1, math.min(length, #state.steps)
  inputs.action_history = history.text(state.steps, length)
  if ctx.opt.memory == "none" then return ctx:prompt("rollout_with_history", inputs) end
  inputs.retrieved_memories = notes.text(state.notes)
  return ctx:prompt("rollout_with_memory", inputs)
end

------------------------------------------------------------------------------ a turn

--- What a command leads to; the faults of a game file end the item.
local function perform(state, command)
  if not command then
    state.silent, state.wasted = state.silent + 1, state.wasted + 1
    state.notice = NO_ACTION .. "\n\n"
    return NO_ACTION
  end
  local result, err = state.game:step(command)
  if not result then error(err, 0) end
  state.silent, state.notice, state.observation = 0, "", result.observation
  state.possible = state.game:admissible()
  if result.admissible then
    notes.add(state.notes, command, result.observation)
  else
    state.wasted = state.wasted + 1
  end
  return result.observation
end

---@async
local function turn(state, ctx, is_last)
  local prompt = prompt_of(state, ctx)
  local reply = ctx:chat { system = prompt.system, user = prompt.user }
  local command = action.command(reply.text, state.possible)
  local before = state.observation
  local said = perform(state, command)
  state.won = command ~= nil and state.game:won()
  state.steps[#state.steps + 1] = { observation = before, action = command }
  ctx:trace {
    step = #state.steps, action = command or "",
    reasoning = reply.reasoning or action.think(reply.text) or "", model_response = reply.text,
    env_feedback = said, reward = state.won and REWARD or 0,
    done = state.won or is_last,
  }
end

--- Play until the goal holds or the turns are used up. A game whose goal holds at the
--- start ends with its first command.
---@async
---@param g rt.Game at its start; it is left where the episode ends
---@param ctx skillopt.Ctx
---@return {won: boolean, turns: integer, wasted: integer, task: string}
function M.play(g, ctx)
  local state = {
    game = g, steps = {}, silent = 0, wasted = 0, notice = "", won = false,
    observation = g:observation(), possible = g:admissible(), notes = notes.new(g:admissible()),
  }
  state.task = M.task(state.observation)
  for i = 1, ctx.opt.max_steps do
    turn(state, ctx, i == ctx.opt.max_steps)
    if state.won then break end
    if state.silent == SILENT_LIMIT then
      ctx:no_answer(("no <action> element in %d replies in a row"):format(SILENT_LIMIT))
    end
  end
  return { won = state.won, turns = #state.steps, wasted = state.wasted, task = state.task }
end

return M
