--- Exit codes: what a script may rely on, in one table.
local M = {}

---@class skillopt.Exit
---@field code integer
---@field words string what it means
---@field kinds string[]? kinds of errors that end with it

--- The codes, in order. What has no kind here ends with 70.
---@type skillopt.Exit[]
M.list = {
  { code = 0, words = "done" },
  { code = 1, words = "`skillopt test`: a test failed" },
  { code = 2, words = "usage, configuration, or a file of the user's that failed",
    kinds = { "usage", "config" } },
  { code = 3, words = "data", kinds = { "data" } },
  { code = 4, words = "login or provider", kinds = { "auth", "network", "timeout", "rate_limit",
    "server", "bad_request", "refused", "filtered", "too_long", "parse", "truncated", "process",
    "sandbox" } },
  { code = 5, words = "budget", kinds = { "budget" } },
  { code = 6, words = "run folder busy, damaged or different", kinds = { "io" } },
  { code = 7, words = "too little measured to decide" },
  { code = 70, words = "fault in the program", kinds = { "limit", "bug" } },
  { code = 130, words = "interrupted", kinds = { "cancelled" } },
}

local TOO_LITTLE <const>, FAULT <const> = 7, 70

local by_kind = {}
for _, row in ipairs(M.list) do
  for _, kind in ipairs(row.kinds or {}) do by_kind[kind] = row.code end
end

--- The exit code of an error. `too_little` marks one that was raised because some of what
--- is compared was measured, but not enough of it.
---@param err skillopt.Err
---@return integer
function M.of(err)
  if err.too_little then return TOO_LITTLE end
  return by_kind[err.kind] or FAULT
end

--- Is it one of the kinds that errors have?
---@param kind any
---@return boolean
function M.is_kind(kind) return by_kind[kind] ~= nil end

--- The table for people.
---@return string
function M.page()
  local lines = { "Exit codes of skillopt:", "" }
  for _, row in ipairs(M.list) do
    lines[#lines + 1] = string.format("%5d  %s", row.code, row.words)
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
