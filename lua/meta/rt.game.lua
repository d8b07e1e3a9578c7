---@meta

--- Text games of the ALFWorld kind, played from their `game.tw-pddl` files.
---
--- Games are independent of each other and cheap: what equal files have in common is
--- kept once, so thousands can be open. No call waits.
---@class rt.game
local game = {}

--- Open a game, ready for the first command. With `max_steps` it is an episode: `done`
--- is true after the step that wins or is the last one allowed, and from then on steps
--- change nothing and give the last result again. Without it play goes on after winning.
---@param bytes string the file
---@param options {name: string?, max_steps: integer?}? `name`: of the file, for messages
---@return rt.Game? game
---@return skillopt.Err? err kind "data", with the line where there is one, or "limit"
function game.open(bytes, options) end

---@class rt.Game
local Game = {}

---@class rt.GameResult
---@field observation string what the game says
---@field won boolean the goal holds
---@field done boolean won, or out of steps; before the first step always false
---@field admissible boolean the command was one of those that were possible
---@field steps integer since the reset, this one included

--- Back to the start.
---@return string? observation
---@return skillopt.Err? err
function Game:reset() end

--- Perform a command. Blanks round it do not count; upper and lower case do. What is not
--- possible is answered with "Nothing happens." and counts as a step. An error is a fault
--- of the file: the game can then only be reset or closed.
---@param command string
---@return rt.GameResult? result
---@return skillopt.Err? err
function Game:step(command) end

--- What the latest reset or step had to say.
---@return string
function Game:observation() end

--- The commands that are possible now, in order of their characters.
---@return string[]
function Game:admissible() end

--- Whether the goal holds.
---@return boolean
function Game:won() end

--- Commands since the reset, possible or not.
---@return integer
function Game:steps() end

--- How much of the goal holds: of its conditions that commands can change, the most that
--- hold together for one choice of objects of the wanted kinds.
---@return {satisfied: integer, total: integer}?
---@return skillopt.Err? err kind "limit"
function Game:progress() end

--- A shortest sequence of commands from here to the goal; the game does not move. `nodes`
--- in the list is how many states were looked at. Nothing else runs meanwhile: some
--- milliseconds for a kitchen, up to minutes for a game made to be hard.
---@param options {max_nodes: integer?}? 100,000 states unless said otherwise
---@return string[]? commands
---@return skillopt.Err? err kind "limit" when the states do not suffice, else "data"
function Game:solve(options) end

--- A second game in the same state, which goes its own way.
---@return rt.Game
function Game:clone() end

--- Give up its memory; twice is fine. Closing the variable does the same.
function Game:close() end

return game
