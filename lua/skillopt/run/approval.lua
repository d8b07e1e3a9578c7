--- A word before many calls go to an endpoint that may cost money.
local M = {}

--- Calls beyond which a paid endpoint wants a word first.
local ASK_ABOVE <const> = 1000

local function is_paid(config)
  for _, role in pairs(config.roles) do
    local url = role.settings.base_url
    if url and not url:find "^https?://127%." and not url:find "^https?://localhost"
      and not url:find "^https?://%[::1%]" then
      return true
    end
  end
  return false
end

--- What `run.go` calls before anything is asked: it refuses many calls without `yes`. What
--- is on file costs nothing.
---@param config skillopt.Config
---@param options {yes: boolean?} of the command
---@return fun(run: table, on_file: integer)
function M.of(config, options)
  return function(run, on_file)
    if options.yes or not is_paid(config) then return end
    local ahead = run.program.forecast(run)
    if ahead.rollouts + ahead.optimizer_calls - on_file <= ASK_ABOVE then return end
    error({ kind = "usage", retry = false, message = string.format(
      "this asks for about %d rollouts and %d calls of the optimizer (%d answers are on file)",
      ahead.rollouts, ahead.optimizer_calls, on_file),
      hint = "repeat the command with --yes if that is what you want; spend.cost, spend.tokens "
        .. "and spend.calls cap what it may spend" }, 0)
  end
end

return M
