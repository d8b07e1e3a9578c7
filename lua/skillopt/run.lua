--- A run, put together: configuration, environment, policies, data, endpoints, folder,
--- journal; then the loop; then what is left to say.
local backend_of = require "skillopt.backend"
local backends = require "skillopt.schema.backends"
local core = require "rt.task"
local ctx = require "skillopt.ctx"
local dataset = require "skillopt.dataset"
local density = require "skillopt.density"
local digest = require "rt.digest"
local effect = require "skillopt.effect"
local env_of = require "skillopt.env"
local file = require "rt.file"
local flow = require "rt.flow"
local forecast = require "skillopt.run.forecast"
local folder_of = require "skillopt.run.folder"
local sessions = require "skillopt.run.sessions"
local identity = require "skillopt.run.identity"
local json = require "rt.json"
local leak = require "skillopt.leak"
local lines = require "rt.lines"
local live = require "skillopt.run.live"
local loader = require "skillopt.loader"
local place = require "skillopt.config.place"
local policy_of = require "skillopt.policy"
local prompt = require "skillopt.prompt"
local record = require "skillopt.record"
local report = require "skillopt.run.report"
local sandbox = require "skillopt.sandbox"
local schema = require "skillopt.schema"
local spending = require "skillopt.spending"
local stdout = require "rt.stdout"
local task = require "skillopt.task"
local text_of = require "rt.text"
local tokens = require "skillopt.run.tokens"
local watch = require "rt.watch"

local M = {}

--- Slots of a run, and those of them that may be off.
local SLOTS <const> = { "loop", "reflect", "aggregate", "select", "update", "rate", "metric",
  "gate", "slow_update", "meta_skill", "appendix" }
local OPTIONAL <const> = { slow_update = true, meta_skill = true, appendix = true }

local function fault(kind, message, hint)
  error({ kind = kind, message = message, hint = hint, retry = false }, 0)
end

----------------------------------------------------------------- what it is made of

local function open_env(run)
  local name = run.config:get "env.name"
  if not name or name == "" then
    fault("config", "env.name is not set", "which benchmark? installed are: "
      .. table.concat(env_of.installed(), ", "))
  end
  run.env, run.env_folder = env_of.load(name, run.folders)
  run.env_opt = loader.freeze(run.config:options "env")
  run.env_prompts = { run.folders[1], run.env_folder }
  run.judge = leak.judge_texts(run.env, run.env_folder)
end

local function open_policy(run, slot, chosen, options)
  local name = type(chosen) == "string" and chosen or "inline"
  local definition, err = chosen, nil
  if type(chosen) == "string" then definition, err = run.load(slot, chosen) end
  if not definition then error(err, 0) end
  local policy, why = policy_of.instance(definition, options, { slot = slot, name = name })
  if not policy then error(why, 0) end
  return policy
end

local function open_policies(run)
  run.policies = {}
  for _, slot in ipairs(run.program.slots) do
    local chosen, options = run.config:policy(slot)
    if chosen == nil and not OPTIONAL[slot] then
      fault("config", string.format("policy.%s is off, and a run needs it", slot))
    end
    run.policies[slot] = chosen ~= nil and open_policy(run, slot, chosen, options) or nil
  end
  if run.config:get "evaluation.use_semantic_density" then
    run.policies.metric = density.added(run.policies.metric, {
      weight = run.config:get "evaluation.semantic_density_weight",
      words = run.config:get "evaluation.leading_words" })
  end
  run.metric = run.policies.metric
end

--- Is a candidate that cannot win any more measured to its end?
local function check_early_stop(run)
  run.early_stop = run.config:get "evaluation.early_stop"
  local gate, metric = run.policies.gate, run.policies.metric
  if not run.early_stop or (gate.hopeless and metric.max and not metric.adjust) then return end
  local words = "evaluation.early_stop does not go with the gate %s and the metric %s"
  fault("config", words:format(gate.name, metric.name),
    "the gate must have `hopeless`, the metric a `max` and no `adjust`")
end

--- Folders in which a policy's prompts are looked for, in order.
local function policy_prompts(run, policy)
  local folders = { run.folders[1], run.env_folder }
  for _, folder in ipairs(run.folders) do
    folders[#folders + 1] = string.format("%s/policies/%s", folder, policy.slot)
  end
  folders[#folders + 1] = string.format("%s/lua/policies/%s", loader.home, policy.slot)
  return folders
end

--- Read the items; those of the splits that the program needs must be there.
---@param run table
---@param needs table<string, boolean>? default: what training needs
---@return table<string, table[]> data
---@return table<string, rt.Texts> keys digests of the items, by split
function M.load_data(run, needs)
  local get = function(name) return run.config:get("env." .. name) end
  local raw, err = dataset.load {
    split_mode = get "split_mode", split_dir = place.of(run.config, "env.split_dir"),
    data_path = place.of(run.config, "env.data_path"),
    split_ratio = get "split_ratio", split_seed = get "split_seed", limit = get "limit",
    seed = run.seed,
  }
  if not raw then error(err, 0) end
  local env = run.env
  local data, check_err, keys = dataset.check(raw, {
    required = env.required or { "question" }, items = env.items, check = env.check,
    hidden = env.hidden, options = run.env_opt, fix_ids = get "fix_ids",
    least = needs and 1 or run.config:get "evaluation.min_items",
    needs_test = run.config:get "evaluation.eval_test" or needs ~= nil, needs = needs,
  })
  if not data then error(check_err, 0) end
  return data, keys
end

local function check_train_size(run)
  local size = run.config:get "train.train_size" or 0
  if size > 0 and size ~= #run.data.train then
    fault("config", string.format("train.train_size is %d but the train split has %d items", size,
      #run.data.train), "0 takes what the split has")
  end
end

--- The skill that training starts from.
---@param run table
---@return string
function M.initial_skill(run)
  local path = place.of(run.config, "env.skill_init")
  if path == "none" then return "" end
  local given = path and path ~= ""
  if not given then path = run.env_folder .. "/skill.md" end
  local text, err = file.read(path)
  if text and not text_of.is_valid(text) then
    fault("data", path .. " is not valid UTF-8", "save the skill as UTF-8")
  end
  if text then return text end
  if given then
    err.hint =
      "env.skill_init names a file that is not there; leave it out to start from the environment's"
    error(err, 0)
  end
  return ""
end

--- What the identity says of the data: how many items, the digest of all their digests.
local function data_digests(keys)
  local out = {}
  for _, split in ipairs(dataset.SPLITS) do
    local stream, list = digest.stream(), keys[split]
    for i = 1, #list do stream:add(i == 1 and list[i] or "\n" .. list[i]) end
    out[split] = { n = #list, digest = stream:hex() }
  end
  return out
end

--- The variable in which a key of the back-end is looked for; nil when it needs none.
local function key_variable(name)
  local backend = backends.by_name[name]
  local key = schema.find(schema.core, string.format("model.%s_api_key", backend.prefix or name))
  return key and key.env[1]
end

--- The endpoint of a role, opened when it is first asked: a replay asks none.
local function open_endpoint(run, role, model, shared)
  local spec = run.config.roles[role]
  local settings = {}
  for k, v in pairs(spec.settings) do settings[k] = v end
  settings.api_key = spec.key and run.config:secret(spec.key) or nil
  settings.key_from, settings.key_variable = spec.key_from, key_variable(spec.backend)
  settings.max_tokens = role == "target" and run.config:get "env.max_completion_tokens" or 16384
  return require("skillopt.endpoint").new {
    role = role, backend = backend_of.load(spec.backend), model = model, settings = settings,
    log = run.log, shared = shared, has_answers = run.journal:next("effect", 0) ~= nil,
    spending = run.spending,
  }
end

--- Models of the roles that cost something; an evaluation has several targets.
local function paid_models(run)
  local out = {}
  for _, role in ipairs { "target", "optimizer" } do
    local spec = run.config.roles[role]
    if spec and not backend_of.load(spec.backend).is_free then
      for name in (spec.model .. ","):gmatch "([^,]*)," do out[#out + 1] = name end
    end
  end
  return out
end

local function make_endpoints(run)
  local shared, opened = {}, {}
  --- The endpoint of a role; of another model than the configured one when it is named.
  function run.endpoint(role, model)
    model = model or run.config.roles[role].model
    local name = role .. "\n" .. model
    opened[name] = opened[name] or open_endpoint(run, role, model, shared)
    return opened[name]
  end
  --- How the limiter of a role stands, of its first model when it has several; nil before
  --- its first call.
  function run.limit_view(role)
    for _, endpoint in pairs(opened) do
      if endpoint.role == role then return endpoint:view() end
    end
  end
end

------------------------------------------------------------------------- writing

---@class skillopt.Draft
---@field add fun(self: skillopt.Draft, text: string)
---@field finish fun(self: skillopt.Draft)

local function checked(ok, err)
  if not ok then error(err, 0) end
end

--- Raises what the file answers; dropped unless it was finished.
local function writing_draft(inner)
  return setmetatable({
    add = function(_, text) checked(inner:add(text)) end,
    finish = function() checked(inner:finish()) end,
  }, { __close = function() local _ <close> = inner end })
end

--- Only its digest is taken.
local function comparing_draft(run, name)
  local stream = digest.stream()
  return setmetatable({
    add = function(_, text) stream:add(text) end,
    finish = function() run.compare(name, stream:hex()) end,
  }, { __close = function() end })
end

local function make_writer(run)
  local made = {}
  local function folder_for(path)
    local folder = path:match "^(.*)/[^/]*$"
    if folder and not made[folder] then
      local ok, err = file.mkdir(folder)
      if not ok then error(err, 0) end
      made[folder] = true
    end
  end
  --- Write a derived file; in a replay that only looks, compare instead.
  function run.write(name, text, opt)
    if not run.path then return end
    if run.compare then return run.compare(name, digest.sha256(text)) end
    local path = run.path .. "/" .. name
    folder_for(path)
    local ok, err = file.write(path, text, { sync = opt and opt.sync, keep_equal = true })
    if not ok then error(err, 0) end
  end

  --- The same for a text that comes in pieces; only where files are written at all.
  ---@return skillopt.Draft
  function run.draft(name)
    local path = run.path .. "/" .. name
    if run.compare then return comparing_draft(run, name) end
    folder_for(path)
    local inner, err = file.draft(path, { keep_equal = true })
    if not inner then error(err, 0) end
    return writing_draft(inner)
  end
end

local function differs(slot, name)
  fault("io", string.format("%s/%s is not what the journal has on record: this program does not do "
    .. "what the run did", slot, name),
    "the code, a prompt or the program was changed, or something "
    .. "in them depends on order or time; run without out_root to start a fork")
end

local function make_record(run)
  local compared = 0

  --- Decisions found equal to those on record.
  function run.decisions_compared() return compared end

  --- Put a decision on record, or compare it with the one that is there.
  function run.decide(name, value)
    local slot = task.slot()
    local id = digest.sha256(json.canonical(record.comparable(value)))
    local n = run.journal:find("decision", slot, name)
    if n then
      local stored, err = run.journal:read(n)
      if not stored then error(err, 0) end
      if stored ~= id then differs(slot, name) end
      compared = compared + 1
    elseif run.is_replay then
      run.reached_end(slot, name)
    else
      local ok, err = run.journal:put("decision", slot, name, id)
      if not ok then error(err, 0) end
    end
    task.event { event = "decision", slot = slot, name = name, digest = id:sub(1, 16) }
  end

  --- The same, and write it as a file.
  function run.record(name, value)
    run.decide(name, value)
    local slot = task.slot()
    run.write((slot == "" and "" or slot .. "/") .. name .. ".json", record.file_text(name, value))
  end
end

--- Bytes of events written at once.
local EVENTS_AT_ONCE <const> = 1 << 16

--- Events one after the other; one may stand for many (`each` gives them).
local function each_event(events, f)
  for _, event in ipairs(events) do
    if event.each then
      for one in event.each() do f(one) end
    else
      f(event)
    end
  end
end

local function make_events(run)
  local out, err, stream
  if run.path and not run.compare then
    out, err = lines.open(run.path .. "/events.jsonl", { truncate = true })
    if not out then error(err, 0) end
  end
  if run.compare then stream = digest.stream() end
  local text, size = {}, 0
  local function put()
    local block = table.concat(text)
    text, size = {}, 0
    if stream then stream:add(block) end
    if out then checked(out:add(block)) end
  end
  --- Write the events noted since the last call; for the root task.
  function run.flush_events()
    each_event(task.take_events(), function(event)
      local line = json.encode(event, { keys = { "event", "slot" } }) .. "\n"
      text[#text + 1], size = line, size + #line
      if size >= EVENTS_AT_ONCE then put() end
    end)
    put()
  end
  function run.close_events()
    run.flush_events()
    if out then out:close() end
    if stream then run.compare("events.jsonl", stream:hex()) end
  end
end

local function make_log(run)
  local out, has_complained
  --- The log is no part of the result: that it cannot be written is said once, and the
  --- run goes on.
  local function complain(err)
    if has_complained then return end
    has_complained = true
    stdout.error(string.format("skillopt: %s; what happens on the way is not logged\n",
      err.message))
  end
  --- A line in log.jsonl: what happened on the way, not part of what must be equal.
  function run.log(event)
    if not run.path or run.compare or has_complained then return end
    local err, ok
    if not out then out, err = lines.open(run.path .. "/log.jsonl") end
    if not out then return complain(err) end
    local line = { time = math.floor(flow.wall() * 1000) / 1000 }
    for k, v in pairs(event) do line[k] = v end
    ok, err = out:add(run.scrub(json.encode(line, { keys = { "time", "event" } })) .. "\n")
    if not ok then complain(err) end
  end
end

------------------------------------------------------------------------- opening

--- Name of the experiment: its folder for `experiment.lua` and `default.yaml`, else the
--- file's stem.
---@param path string
---@param given string?
---@return string
function M.experiment_name(path, given)
  if given and given ~= "" then return given end
  local folder, stem = path:match "^(.-)([^/]*)%.[^./]*$"
  if stem == "experiment" or stem == "default" then
    local absolute = file.absolute(folder == "" and "." or folder)
    return absolute:match "([^/]*)/?$"
  end
  return stem or path
end

local function check_prompts(run)
  prompt.check(run.env_prompts)
  for _, slot in ipairs(SLOTS) do
    local policy = run.policies[slot]
    if policy then prompt.check(policy_prompts(run, policy)) end
  end
end

--- What a run does. Training is the program below; others are given to `prepare`.
---@class skillopt.Program
---@field slots string[] policies that are opened
---@field load fun(run: table, stored: table?) reads or takes over `run.data`, `run.item_keys` and the skills
---@field identity fun(run: table): table its parts of the identity: config, skill, kind, asked
---@field skills fun(run: table): string[] texts to keep in the journal
---@field root fun(run: table): string folder of the numbered folders
---@field out_root fun(run: table): string? a folder that was named
---@field announce fun(run: table, opened: table): {event: string, data: table, open: table?, notes: string[]?} what
---       is to come, more fields for the line about the folder, more notes
---@field perform fun(run: table) does it; `run.result` is what came of it
---@field calls fun(run: table): integer model calls about to come

local TRAINING

--- Read everything that decides what the run is; nothing is written or sent.
---@param options {config: skillopt.Config, file: string, folders: string[], load: function, stored: {data: table, keys: table, skill: string}?, program: skillopt.Program?}
---@return table run
function M.prepare(options)
  local run = { config = options.config, file = options.file, folders = options.folders,
    load = options.load, version = "skillopt-" .. loader.version,
    program = options.program or TRAINING }
  run.seed = run.config:get "train.seed"
  run.library_prompts = loader.home .. "/lua/skillopt"
  run.predictions = run.config:get "evaluation.predictions" or "all"
  run.workers = run.config:get "env.workers" or 64
  run.call_timeout_s = run.config:get "env.exec_timeout"
  local item_timeout = run.config:get "env.item_timeout_s"
  run.item_timeout_s = item_timeout ~= "none" and item_timeout or nil
  open_env(run)
  open_policies(run)
  run.program.load(run, options.stored)
  check_prompts(run)
  run.policy_prompts = function(policy) return policy_prompts(run, policy) end
  run.source_list = identity.sources(run.folders[1])
  run.flat_config = run.config:flat()
  local parts = run.program.identity(run)
  parts.data, parts.sources = data_digests(run.item_keys), run.source_list
  parts.version = loader.version
  run.identity = identity.of(parts)
  return run
end

--- Values that a replay can be given as text; functions and lists come from the sources.
--- And the names of those that the surroundings gave.
local function plain_values(config)
  local out, world = json.object {}, json.array {}
  for _, row in ipairs(config:rows()) do
    local kind = type(row.value)
    local is_plain = kind == "string" or kind == "number" or kind == "boolean"
    if is_plain and row.key.type ~= "secret" then
      out[row.name] = kind == "number" and json.format_number(row.value) or tostring(row.value)
      if row.origin:find "^environment " or row.origin:find "^%.env " then
        world[#world + 1] = row.name
      end
    end
  end
  return out, world
end

--- Queue a row or raise.
local function put(j, kind, slot, key, bytes)
  local ok, err = j:put(kind, slot, key, bytes)
  if not ok then error(err, 0) end
end

local function put_new(j, kind, slot, key, bytes)
  if not j:find(kind, slot, key) then put(j, kind, slot, key, bytes) end
end

--- Items whose digests one row names.
local KEYS_IN_ROW <const> = 10000

--- The rows that name the items of a split, in their order.
local function store_keys(j, split, keys)
  for first = 1, #keys, KEYS_IN_ROW do
    local part = {}
    for i = first, math.min(first + KEYS_IN_ROW - 1, #keys) do part[#part + 1] = keys[i] end
    put_new(j, "value", split, string.format("items:%d", first // KEYS_IN_ROW + 1),
      table.concat(part, "\n"))
  end
end

local function store_items(run)
  local j, counts = run.journal, {}
  for _, split in ipairs(dataset.SPLITS) do
    local keys, items = run.item_keys[split], run.data[split]
    for i = 1, #keys do
      if not j:find("item", "", keys[i]) then
        put(j, "item", "", keys[i], json.canonical(items[i]))
      end
    end
    store_keys(j, split, keys)
    counts[split] = #keys
  end
  if j:find("value", "", "items") then return end
  local ok, err = j:store("value", "", "items", json.canonical(counts))
  if not ok then error(err, 0) end
end

local function store_inputs(run)
  local j = run.journal
  for _, source in ipairs(run.source_list) do
    put_new(j, "source", source.name, source.digest, source.text)
  end
  put(j, "open", "", "identity", json.canonical(run.identity))
  local values, world = plain_values(run.config)
  put(j, "open", "", "invocation", json.canonical { file = run.file, values = values,
    world = world, asked = run.program.asked })
  for _, text in ipairs(run.program.skills(run)) do
    put_new(j, "source", "", "skill:" .. digest.sha256(text), text)
  end
  store_items(run)
end

local function has_ended(journal)
  return journal:find("value", "", "end") ~= nil
end

--- A start that has something to do is on record; a run that has ended is only shown.
local function note_start(run)
  if has_ended(run.journal) then return end
  local ok, err = sessions.note(run.journal, flow.wall())
  if not ok then error(err, 0) end
end

--- How long this start, and all starts together, have been at work.
local function make_clock(run)
  run.started = flow.now()
  run.seconds = function() return flow.now() - run.started end
  run.total_seconds = function()
    local is_shown = run.is_replay or has_ended(run.journal)
    return sessions.seconds(run.journal, is_shown) + run.seconds()
  end
end

--- Give a prepared run its journal and what hangs on it.
---@param run table
---@param opt {journal: table, parents: table[]?, path: string?, is_replay: boolean?, disorder: integer?, quiet: boolean?, json: boolean?, compare: (fun(name: string, digest: string))?}
function M.attach(run, opt)
  run.journal, run.path, run.is_replay = opt.journal, opt.path, opt.is_replay
  run.compare = opt.compare
  run.scratch = opt.compare and (os.getenv "TMPDIR" or "/tmp") or opt.path
  if run.path and not run.compare then
    local ok, err = file.mkdir(run.path)
    if not ok then error(err, 0) end
  end
  make_clock(run)
  run.scrub = require("skillopt.secrets").scrubber(run.config:secrets())
  run.effects = effect.new { journal = opt.journal, parents = opt.parents,
    is_replay = opt.is_replay, disorder = opt.disorder, scrub = run.scrub }
  run.ctx = ctx.new()
  tokens.attach(run)
  make_log(run)
  make_writer(run)
  make_record(run)
  make_events(run)
  run.say, run.progress, run.live = report.new { run = run, quiet = opt.quiet, json = opt.json }
  run.set_plan = function(plan) run.plan = plan end
  run.reached_end = function(slot, name)
    error({ kind = "io", at_end = true, retry = false,
      message = string.format("the journal ends before %s/%s", slot, name),
      hint = "the run was stopped there; run it again to go on" }, 0)
  end
  run.spending = spending.new(run, paid_models(run))
  make_endpoints(run)
  sandbox.set_seed(run.seed)
end

--- Rows of a kind, and of one key where that is given.
---@param j rt.Journal
---@param kind string
---@param key string?
---@return integer
function M.count_rows(j, kind, key)
  local n, count = j:next(kind, 0), 0
  while n do
    if not key or j:row(n).key == key then count = count + 1 end
    n = j:next(kind, n)
  end
  return count
end

--- What was given up with --accept-loss is said whoever asked for quiet.
local function say_loss(run)
  local lost = run.journal:lost()
  if lost == 0 then return end
  run.log { event = "loss", rows = lost }
  stdout.error(string.format(
    "skillopt: %d row%s of the journal %s lost; what they held is asked again\n",
    lost, lost == 1 and "" or "s", lost == 1 and "is" or "are"))
end

--- Answers that this start may use.
local function answers_on_file(opened)
  local n = M.count_rows(opened.journal, "effect")
  for _, parent in ipairs(opened.parents or {}) do
    n = math.max(n, M.count_rows(parent.journal, "effect"))
  end
  return n
end

local function say_notes(run, list, front)
  for _, words in ipairs(list or {}) do
    run.say("note", { message = (front or "") .. words })
  end
end

--- Say which folder it is, what was changed, who is asked.
local function announce(run, opened, opt)
  say_loss(run)
  local plan = run.program.announce(run, opened)
  local parent = opened.mode == "fork" and opened.parents[1] or nil
  local open = { path = run.path, mode = opened.mode,
    ended = run.journal:find("value", "", "end") ~= nil,
    parent = parent and parent.path:match "[^/]*$",
    calls = M.count_rows((parent or opened).journal, "effect") }
  for name, value in pairs(plan.open or {}) do open[name] = value end
  run.say("open", open)
  if parent and opt.retry_failed then
    local items, evaluations = forecast.failed(parent.journal)
    run.say("retry", { items = items, evaluations = evaluations })
  end
  say_notes(run, opened.notes)
  say_notes(run, opened.hard, "changed: ")
  say_notes(run, opened.soft, "changed: ")
  say_notes(run, run.config.notes)
  say_notes(run, plan.notes)
  for _, role in ipairs { "target", "optimizer" } do
    local spec = run.config.roles[role]
    if spec then
      run.say("model", { role = role, backend = spec.backend, model = spec.model,
        base_url = spec.settings.base_url })
    end
  end
  if run.spending.is_capped then
    run.say("note", { message = "spent so far: " .. run.spending:words() })
  end
  run.say(plan.event, plan.data)
end

--- What user code read from outside, in an order that does not tell who read first.
local function inputs_read()
  local list = json.array {}
  for i, one in ipairs(sandbox.inputs) do list[i] = one end
  table.sort(list, function(a, b) return json.canonical(a) < json.canonical(b) end)
  return list
end

local function write_card(run)
  local values = json.object {}
  for _, row in ipairs(run.config:rows()) do
    values[row.name] = {
      value = row.key.type == "secret" and "***" or type(row.value) == "function" and "function"
        or type(row.value) == "table" and row.value.is_policy and "definition" or row.value,
      origin = row.origin, class = row.key.class,
    }
  end
  run.write("run.json", json.encode({ version = run.version, identity = run.identity,
    config = values, inputs = inputs_read() }, { indent = true }))
  run.write("config.json", json.encode(run.flat_config, { indent = true }))
end

--------------------------------------------------------------------------- running

--- The clock of a run starts when it was begun, or the run it is a fork of: a value, so
--- that it starts there again.
local function start_clock(run)
  local j, parent = run.journal, run.effects.parents[1]
  local n = j:find("value", "", "start")
  local inherited = not n and parent and parent:find("value", "", "start")
  if inherited then
    n = j:copy(parent, inherited)
  elseif not n and not run.is_replay then
    local err
    n, err = j:put("value", "", "start", json.canonical { time = math.floor(flow.wall()) })
    if not n then error(err, 0) end
  end
  if n then core.set_time(json.decode(assert(j:read(n))).time) end
end

--- Do what the run is for; then the end is put on file.
---@async
---@param run table attached
---@return table result
function M.train(run)
  start_clock(run)
  run.program.perform(run)
  run.close_events()
  if not run.is_replay and not run.journal:find("value", "", "end") then
    local ok, err = run.journal:store("value", "", "end", json.canonical { ended = true })
    if not ok then error(err, 0) end
  end
  return run.result
end

-------------------------------------------------------------------------- training

local function load_training(run, stored)
  if run.config.roles.target.model:find(",", 1, true) then
    fault("config", "model.target names several models: " .. run.config.roles.target.model,
      "training asks one; `skillopt eval` takes several")
  end
  run.rate_mode = run.policies.rate.control or "fixed"
  check_early_stop(run)
  if stored then
    run.data, run.item_keys = stored.data, stored.keys
  else
    run.data, run.item_keys = M.load_data(run)
  end
  run.initial_skill = stored and stored.skill or M.initial_skill(run)
  if not stored then check_train_size(run) end
end

local function training_folder(run)
  local path = run.config:get "env.out_root"
  return path ~= "" and path or nil
end

local function announce_training(run)
  local steps, ahead = forecast.steps(run), forecast.of(run)
  return {
    open = { steps = steps, step = M.count_rows(run.journal, "decision", "step_record") + 1 },
    event = "plan",
    data = { train = #run.data.train, val = #run.data.val, test = #run.data.test,
      epochs = run.config:get "train.num_epochs", steps = steps, rollouts = ahead.rollouts,
      optimizer_calls = ahead.optimizer_calls },
  }
end

--- The loop, in the place it works at.
---@async
local function perform_training(run)
  local loop = run.policies.loop
  task.set_place { kind = "policy", run = run, role = "optimizer", stage = "optimizer",
    opt = loop.opt, skill = run.initial_skill, prompt_folders = policy_prompts(run, loop) }
  watch.on()
  loop.run(run.ctx, loop.opt)
  watch.off()
end

TRAINING = {
  slots = SLOTS,
  load = load_training,
  identity = function(run)
    return { config = run.config:identity(), skill = run.initial_skill }
  end,
  skills = function(run) return { run.initial_skill } end,
  root = function(run)
    return "outputs/" .. M.experiment_name(run.file, run.config:get "name")
  end,
  out_root = training_folder,
  announce = announce_training,
  perform = perform_training,
  forecast = forecast.of,
}

--------------------------------------------------------------------------- going

--- Open the folder, go, close. What the caller asked for in `opt` is that of the command.
---@async
---@param run table prepared
---@param opt {new: boolean?, resume: string?, retry_failed: boolean?, accept_loss: boolean?, quiet: boolean?, json: boolean?, approve: fun(run: table, on_file: integer)?}
---@return table result
function M.go(run, opt)
  local program = run.program
  local root, out_root = program.root(run), program.out_root(run)
  local opened = folder_of.open {
    root = root, out_root = out_root, resume = opt.resume, new = opt.new,
    retry_failed = opt.retry_failed, accept_loss = opt.accept_loss, identity = run.identity,
    returns = run.identity.kind ~= nil,
  }
  local parents = {}
  for i, parent in ipairs(opened.parents or {}) do parents[i] = parent.journal end
  M.attach(run, { journal = opened.journal, parents = parents, path = opened.path,
    quiet = opt.quiet, json = opt.json })
  if opt.approve then opt.approve(run, answers_on_file(opened)) end
  if not out_root and not opt.resume then folder_of.link_latest(root, opened.path) end
  -- The data is stored last: a run that was killed before it has not all its inputs.
  local has_inputs = run.journal:find("value", "", "items") ~= nil
  if opened.mode ~= "continue" or #(opened.soft or {}) > 0 or not has_inputs then
    store_inputs(run)
  end
  note_start(run)
  run.item_keys = nil
  write_card(run)
  announce(run, opened, opt)
  local ahead = program.forecast(run)
  run.calls_expected = ahead.rollouts + ahead.optimizer_calls
  local result = live.during(run.live, M.train, run)
  write_card(run) -- with what was read on the way
  run.journal:close()
  for _, parent in ipairs(parents) do parent:close() end
  return result
end

return M
