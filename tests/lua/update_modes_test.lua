--- The reference's small helpers, each through the way it takes here: words of the
--- configuration, lists that are cut, sizes, logins that are masked, ids in paths.
local cli = require "skillopt.cli"
local config = require "skillopt.config"
local open = require "skillopt.config.open"
local patch = require "skillopt.patch"
local test = require "skillopt.test"
local file = require "rt.file"
local json = require "rt.json"
local support = test.support "tests/lua/support.lua"
local vectors = test.support "tests/lua/vectors.lua"

local FILE <const> = "core_update_modes.json"

--- Walks the cases of one helper; `compare(t, i, given, out)` gives why a case differs.
local function walk(t, fn, compare)
  local book = vectors.book(FILE, fn)
  for i, case in ipairs(book.cases) do
    if case.fn == fn then book:note(i, compare(t, i, case["in"], case.out)) end
  end
  book:check(t)
end

---------------------------------------------------------------------------- words

--- The configuration of a file with this text and a command line.
local function examine(text, args)
  local line = cli.parse("run", args or {})
  return config.examine { file = "c.yaml", args = line.assignments, configs = open.configs(),
    read = function(path) return path == "c.yaml" and text or file.read(path) end }
end

--- Compares what a word becomes; no word leaves the default.
local function word_test(fn, name, key, names)
  test(("the words for %s are those of the reference"):format(name), function(t)
    walk(t, fn, function(_, i, given, out)
      local c = examine(json.encode { optimizer = { [name] = given } })
      local problems = table.concat(c.problems, "\n")
      if type(out) == "table" and out.error then
        t.ok(problems:find("optimizer." .. name, 1, true), i .. " is refused: " .. problems)
        return nil
      end
      local want = type(out) == "table" and out.mode or out
      if problems ~= "" then
        t.ok(problems:find("optimizer." .. name, 1, true), problems)
        return "an unknown word is refused"
      end
      t.equal(names[c:get(key)] or c:get(key), want, i)
    end)
  end)
end

word_test("normalize", "skill_update_mode", "policy.update", { patch = "patch",
  rewrite = "rewrite_from_suggestions", full_rewrite = "full_rewrite_minibatch" })
word_test("normalise_lr_control_mode", "lr_control_mode", "policy.rate",
  { cosine = "fixed", autonomous = "autonomous", none = "none" })
word_test("normalise_longitudinal_pair_policy", "longitudinal_pair_policy",
  "optimizer.longitudinal_pair_policy", { mixed = "mixed", changed = "changed",
    unchanged = "unchanged" })

--------------------------------------------------------------------------- lists

local ITEM <const> = {
  edits = function(n) return { op = "append", content = "e" .. n } end,
  revise_suggestions = function(n)
    return { type = "clarify", title = "t", instruction = "i" .. n }
  end,
}

test("a list of proposals is cut to the budget as the reference cuts it", function(t)
  walk(t, "truncate_payload", function(_, i, given, out)
    local kind = given.mode == "rewrite" and "revise_suggestions" or "edits"
    if given.mode == "full_rewrite" then return "there is one document whatever the budget" end
    if given.max_items < 0 then return "a budget is a whole number of at least 0" end
    if type(given.container[kind]) ~= "table" then
      t.ok(not patch.is_usable({ patch = given.container }, kind))
      return "a reply without its list is asked for again"
    end
    local list = json.array {}
    for n = 1, #given.container[kind] do list[n] = ITEM[kind](n) end
    local raw = patch.raw({ patch = { reasoning = "", [kind] = list } },
      { batch_size = 1, source_type = "failure", budget = given.max_items, kind = kind,
        hidden = { pieces = {}, whole = {} } })
    t.equal(#raw.patch[kind], #out[kind], i)
    for n, item in ipairs(raw.patch[kind]) do
      t.equal(item.content or item.instruction, list[n].content or list[n].instruction)
    end
  end)
end)

--------------------------------------------------------------------------- sizes

local function items(prefix, count)
  local out = {}
  for i = 1, count do out[i] = { id = prefix .. i } end
  return out
end

--- Steps of an epoch as prepared for `count` training items, or the problem.
local function prepared(configured, count)
  local folder = support.folder()
  support.write_splits(folder .. "/data",
    { train = items("t", count), val = items("v", 3), test = items("x", 2) })
  support.write(folder .. "/skill.md", "# S\n")
  local ok, run = pcall(support.prepare, { folder = folder, search = { "tests/programs/traced" },
    experiment = { train = { train_size = configured }, model = { backend = "sim" },
      env = { name = "traced", split_mode = "split_dir", split_dir = folder .. "/data",
        skill_init = folder .. "/skill.md" } } })
  return ok and #run.data.train or nil, not ok and (run.message or tostring(run)) or nil
end

test("the size of the training split is resolved as in the reference", function(t)
  walk(t, "resolve_train_size", function(_, i, given, out)
    if type(given.inferred) ~= "number" then return "every environment has a list of items" end
    local configured = given.configured ~= json.null and given.configured or nil
    local size, problem = prepared(configured, given.inferred)
    if type(out) == "table" then
      t.ok(problem and problem:find("train", 1, true), i)
      return nil
    end
    if tonumber(configured or 0) < 0 or given.inferred == 0 then
      t.ok(problem, i)
      return "a size is at least 0, and a split without items is refused"
    end
    t.equal(size, out, i)
  end)
end)

------------------------------------------------------------------- logins and ids

test("a login is masked whole, where the reference shows its ends", function(t)
  walk(t, "redact_value", function(_, i, given, out)
    local c = examine("", { "--azure_openai_api_key", given })
    local got = c:flat().azure_openai_api_key
    if given == "" then return t.equal(got or "", out, i) end
    t.equal(got, "***", i)
    return "a login is masked whole"
  end)
end)

test("ids in paths are written reversibly, and plain ones as they are", function(t)
  walk(t, "safe_pair_id", function(_, i, given, out)
    local got = file.label(given)
    if got == out then return nil end
    t.equal(file.label(got):gsub("%%25", "%%"), got, i) -- nothing is left to be escaped
    return "ids keep what tells them apart"
  end)
end)
