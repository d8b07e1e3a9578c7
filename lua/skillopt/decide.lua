--- From a gate's decision to what the loop does, and the words that go with it.

local evaluation = require "skillopt.evaluation"
local json = require "rt.json"

local M = {}

--- Fewer pairs than this cannot show an effect at the usual 5 %, even when all of them
--- agree (half to the power of 4 is 6 %).
M.CONFIDENT_FROM = 5

--- Differences below this are rounding.
local SLACK <const> = 1e-9
--- Items named in a reason.
local NAMED <const> = 10

--- Is there anything to compare, and is the candidate's score higher?
---@param candidate skillopt.Evaluation both on the items marked in both
---@param other skillopt.Evaluation
---@return boolean
function M.is_better(candidate, other)
  return candidate.n > 0 and candidate.score > other.score
end

--- The score a candidate has if every item it has not been run on gets `max`, and the other
--- side's score, both on the items that can have a mark on both sides. Sums are those of an
--- evaluation, in its order, so rounding cannot lift a whole evaluation above the first.
---@param prefix skillopt.Evaluation of the candidate, on the first items
---@param other skillopt.Evaluation on all items
---@param max number the largest value of the metric
---@return number most
---@return number score
function M.most(prefix, other, max)
  local most, score, n = 0.0, 0.0, 0
  for i = 1, evaluation.size(other) do
    local new, old, is_open = evaluation.pair_at(prefix, other, "metric", i)
    if old and (is_open or new) then
      most = most + (is_open and max or new)
      score = score + old
      n = n + 1
    end
  end
  if n == 0 then return 0.0, 0.0 end
  return most / n, score / n
end

--- Of prefixes that were asked about: against whom, what the items so far add up to, and
--- what the other side's do.
local asked = setmetatable({}, { __mode = "k" })

local function sums_of(prefix, other)
  local own = asked[prefix]
  if own and own.other == other then return own end
  own = { other = other, most = 0.0, score = 0.0, n = 0, at = 0, seen = 0,
    is_in_order = evaluation.is_in_order(prefix, other) }
  for i = 1, evaluation.size(other) do
    local _, old = evaluation.pair_at(prefix, other, "metric", i)
    if old then own.score, own.n = own.score + old, own.n + 1 end
  end
  asked[prefix] = own
  return own
end

--- Add the items that the prefix has reached since.
local function go_on(own, prefix)
  for i = own.at + 1, evaluation.size(own.other) do
    local new, old, is_open = evaluation.pair_at(prefix, own.other, "metric", i)
    if is_open then return end
    if old then own.most, own.seen = own.most + new, own.seen + 1 end
    own.at = i
  end
end

--- Rounding of a sum is below this share of it, a term.
local ROUNDING <const> = 2.0 ^ -51

--- Is the most that a prefix can reach (see `most`) not above the other side's score? The
--- prefix grows from question to question: only what is new is added, and the sums are
--- taken anew only where rounding could decide.
---@param prefix skillopt.Evaluation
---@param other skillopt.Evaluation
---@param max number
---@return boolean
function M.is_hopeless(prefix, other, max)
  local own = #prefix.failed == 0 and sums_of(prefix, other)
  if own and own.is_in_order then
    go_on(own, prefix)
    local most = own.most + max * (own.n - own.seen)
    local slack = ROUNDING * (own.n + 8) * (math.abs(own.most) + math.abs(own.score)
      + math.abs(max) * own.n)
    if math.abs(most - own.score) > slack then return most < own.score end
  end
  local most, score = M.most(prefix, other, max)
  return most <= score
end

---@alias skillopt.Action "accept_new_best"|"accept"|"reject"|"force_accept"

--- What the loop does with a candidate: the action's name in the records, and whether
--- best moves too. Every action but `reject` makes the candidate current. `force_accept`
--- is the decision of the gate `none`.
---@param decision "accept"|"reject"|"force_accept"
---@param candidate skillopt.Evaluation
---@param best skillopt.Evaluation
---@return skillopt.Action action
---@return boolean moves_best
function M.action(decision, candidate, best)
  if decision == "reject" then return "reject", false end
  local above = M.is_better(candidate, best)
  if decision == "force_accept" then return "force_accept", above end
  if decision ~= "accept" then
    error(("action: expected accept, reject or force_accept, got %s"):format(decision), 2)
  end
  return above and "accept_new_best" or "accept", above
end

---@class skillopt.Comparison
---@field n integer items marked in both
---@field better integer
---@field worse {id: string, difference: number}[] in item order

--- Compare two evaluations item by item, by the metric, on the items marked in both.
---@param candidate skillopt.Evaluation
---@param current skillopt.Evaluation
---@return skillopt.Comparison
function M.compare(candidate, current)
  local out = { n = 0, better = 0, worse = {} }
  for i = 1, evaluation.size(current) do
    local new, old = evaluation.pair_at(candidate, current, "metric", i)
    if new and old then
      local difference = new - old
      out.n = out.n + 1
      if difference > SLACK then out.better = out.better + 1 end
      if difference < -SLACK then
        out.worse[#out.worse + 1] = { id = evaluation.id_at(current, i), difference = difference }
      end
    end
  end
  return out
end

--- Items and what they lost, as `w2 -0.1000, w5 -1.0000`.
---@param worse {id: string, difference: number}[]
---@return string
function M.list(worse)
  local out = {}
  for i = 1, math.min(#worse, NAMED) do
    out[i] = ("%s %.4f"):format(worse[i].id, worse[i].difference)
  end
  if #worse > NAMED then out[#out + 1] = ("and %d more"):format(#worse - NAMED) end
  return table.concat(out, ", ")
end

--- Two scores, with as many digits as it takes to tell them apart.
local function scores(a, b)
  local left, right = ("%.4f"):format(a), ("%.4f"):format(b)
  if left == right and a ~= b then
    return json.format_number(a), json.format_number(b)
  end
  return left, right
end

--- The reason of a candidate whose evaluation was ended early: where, and what it could
--- have reached at most.
---@param candidate skillopt.Evaluation not run on all items
---@param current skillopt.Evaluation
---@param max number the largest value of the metric
---@return string reason
function M.early_reason(candidate, current, max)
  local total = evaluation.size(candidate)
  local most, score = M.most(candidate, current, max)
  local left, right = scores(most, score)
  return ("stopped early after %d of %d items: at most %s, current %s")
    :format(total - candidate.not_run, total, left, right)
end

--- A tie of hard marks that hides movement of the soft ones.
local function coarse(candidate, current)
  local is_hard = evaluation.has_equal(candidate, "metric", "hard")
  if not is_hard or candidate.score ~= current.score then return nil end
  local new, old = candidate:mean "soft", current:mean "soft"
  if not new or not old or new == old then return nil end
  return ("the hard count cannot move on %d items while soft went from %.4f to %.4f")
    :format(candidate.n, old, new)
end

--- The reason of a decision that compares scores: both numbers, n, how many items got
--- better and which worse, and what should make a reader careful.
---@param candidate skillopt.Evaluation both on the items marked in both
---@param current skillopt.Evaluation
---@return string reason
---@return skillopt.Comparison comparison
function M.reason(candidate, current)
  local comparison = M.compare(candidate, current)
  if candidate.n == 0 then return "n=0: no item has a mark on both sides", comparison end
  local new, old = scores(candidate.score, current.score)
  local sign = candidate.score > current.score and ">"
    or candidate.score < current.score and "<" or "="
  local parts =
    { ("candidate %s %s current %s on n=%d"):format(new, sign, old, candidate.n) }
  if sign == "=" then parts[1] = parts[1] .. " (tie)" end
  if candidate.n < M.CONFIDENT_FROM then
    parts[#parts + 1] = ("low confidence, n=%d"):format(candidate.n)
  end
  parts[#parts + 1] = ("%d better, %d worse"):format(comparison.better, #comparison.worse)
  if #comparison.worse > 0 then
    parts[#parts] = ("%s: %s"):format(parts[#parts], M.list(comparison.worse))
  end
  parts[#parts + 1] = coarse(candidate, current)
  return table.concat(parts, "; "), comparison
end

return M
