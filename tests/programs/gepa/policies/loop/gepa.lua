--- A GEPA-like loop: a pool of skills, each the best on some selection item. In a round
--- several parents are drawn by how many items they lead, each gets one rewrite from its
--- own mistakes, and a child that helps on its minibatch joins the pool.
local ending = require "skillopt.ending"
local policy = require "skillopt.policy"
local task = require "skillopt.task"
local train = require "skillopt.train"

--- How many items each skill of the pool leads.
local function leads(pool)
  local wins = {}
  for _, id in ipairs(pool[1]:ids()) do
    local best, by = -1, {}
    for i, member in ipairs(pool) do
      local mark = member:marks(id)[1] or -1
      if mark > best then best, by = mark, {} end
      if mark == best then by[#by + 1] = i end
    end
    for _, i in ipairs(by) do wins[i] = (wins[i] or 0) + 1 end
  end
  return wins
end

--- Draw a member with a chance that grows with its leads.
local function draw(pool, rng)
  local wins, total = leads(pool), 0
  for _, n in pairs(wins) do total = total + n end
  local ticket = rng:below(total)
  for i, n in pairs(wins) do
    ticket = ticket - n
    if ticket < 0 then return pool[i] end
  end
end

local function propose(ctx, parent, opt)
  local batch = ctx.rng:sample(ctx.data.train, math.min(opt.minibatch, #ctx.data.train))
  local seen = ctx:evaluate(parent.skill, batch, { label = "rollout", feedback = true })
  local reply = ctx:ask { prompt = "gepa_rewrite", stage = "analyst", want = { "new_skill" },
    inputs = { skill = parent.skill, trajectories = seen:render() } }
  if not reply then return nil end
  local child = parent.skill:with_body(reply.new_skill)
  if child.key == parent.skill.key then return nil end
  local after = ctx:evaluate(child, batch, { label = "rollout_child" })
  if after.score <= seen.score then return nil end
  return ctx:evaluate(child, ctx.data.val, { label = "selection_eval" })
end

return policy.define {
  slot = "loop",
  options = {
    rounds = { "integer", 3, "rounds of proposals", min = 1 },
    proposals = { "integer", 3, "children a round", min = 1 },
    minibatch = { "integer", 4, "training items a child sees", min = 1 },
    seed = { "integer", key = "train.seed", doc = "seed" },
    sel_env_num = { "integer", key = "evaluation.sel_env_num", doc = "selection items" },
    test_env_num = { "integer", key = "evaluation.test_env_num", doc = "test items" },
    eval_test = { "boolean", key = "evaluation.eval_test", doc = "measure the test set" },
  },
  run = function(ctx, opt)
    local state = train.start(ctx, opt)
    local pool = { state.current }
    for round = 1, opt.rounds do
      local parents = {}
      for i = 1, opt.proposals do parents[i] = draw(pool, ctx.rng) end
      local children = task.map(parents, function(parent) return propose(ctx, parent, opt) end,
        { label = ("rounds/round_%02d"):format(round) })
      for i = 1, children.n do pool[#pool + 1] = children[i] end
      ctx:record(("rounds/round_%02d"):format(round), { pool = #pool })
    end
    for _, member in ipairs(pool) do state:offer(member) end
    return ending.run(ctx, state, opt)
  end,
}
