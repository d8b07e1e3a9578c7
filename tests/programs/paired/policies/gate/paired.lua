--- A paired sign test: accept when the candidate wins more items than it loses and the
--- difference is beyond chance; ask for another repeat of both while it is not clear.
local policy = require "skillopt.policy"

--- Chance of at least `wins` heads in `n` fair throws.
local function tail(wins, n)
  local sum, term = 0.0, 0.5 ^ n
  for k = 0, n do
    if k >= wins then sum = sum + term end
    term = term * (n - k) / (k + 1)
  end
  return sum
end

return policy.define {
  slot = "gate",
  options = { alpha = { "number", 0.2, "chance of a false alarm", min = 0, max = 1 } },
  run = function(candidate, current, _, _, opt)
    local wins, losses = 0, 0
    for _, id in ipairs(candidate:ids()) do
      local new, old = candidate:only({ id }):mean(), current:only({ id }):mean()
      if new > old then wins = wins + 1 elseif new < old then losses = losses + 1 end
    end
    local p = tail(wins, wins + losses)
    local reason = ("%d wins, %d losses on n=%d, p=%.3f"):format(wins, losses, candidate.n, p)
    if wins <= losses then return "reject", reason end
    if p <= opt.alpha then return "accept", reason end
    return "undecided", reason, { repeats = 1, of = { "candidate", "current" } }
  end,
}
