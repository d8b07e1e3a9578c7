--- `skillopt data fetch|verify|split NAME`: the data of an environment that is not shipped.
local cli = require "skillopt.cli"
local fetch = require "skillopt.data.fetch"
local refuse = require "skillopt.refuse"
local source_of = require "skillopt.data.source"
local split = require "skillopt.data.split"
local verify = require "skillopt.data.verify"
local stdout = require "rt.stdout"

local M = { summary = "fetch, verify and split the data of an environment" }

local DECLARATION <const> = {
  name = "data", arguments = "fetch|verify|split NAME [FOLDER]", max_arguments = 3,
  summary = [[
fetch NAME [SPLIT]   download what the environment NAME needs, unpack it, count it
verify NAME [SPLIT]  count what is there and open every file
split NAME FOLDER    make a split in FOLDER of what is there
With the folder of a split, the files its items name are opened, and those missing named.]],
  flags = {
    { name = "root", value = "DIR", doc = "data root; default: where the environment looks" },
    { name = "from", value = "WHERE", doc = "fetch: another server or a folder with the archives" },
    { name = "unchecked", doc = "fetch: take archives with another digest" },
    { name = "solve", doc = "verify: also search a solution of every file" },
    { name = "seed", value = "N", integer = true, doc = "split: which files are drawn (42)" },
    { name = "train", value = "N", integer = true, doc = "split: items of train; 0 = all" },
    { name = "val", value = "N", integer = true, doc = "split: items of val; 0 = all" },
    { name = "test", value = "N", integer = true, doc = "split: items of test; 0 = all" },
  },
}

M.declaration = DECLARATION

--- What to look at after a wrong command line.
local HELP <const> = "skillopt data --help"

local function say(line) stdout.write(line .. "\n") end

--- The end of a count: fewer files than there should be is an error.
local function counted(complete, source, root)
  if complete then return 0 end
  return nil, { kind = "data", retry = false,
    message = ("%s are not complete in %s"):format(source.title, root),
    hint = ("`skillopt data fetch` gets them; %s names the folder"):format(source.variable) }
end

--- Prove files; what was wrong before stands first in the error.
local function proved(source, root, paths, problems, options)
  local faults = verify.prove(source, root, paths, { solve = options.solve or false })
  table.move(faults, 1, #faults, #problems + 1, problems)
  if #problems > 0 then return nil, verify.refusal(problems) end
  say(("%d files are fine%s"):format(#paths, options.solve and ", each can be solved" or ""))
  return 0
end

--- Prove the files that the items of a split name.
local function check_split(source, root, folder, options)
  local paths, problems = verify.manifest(source, root, folder)
  if not paths then return nil, problems end
  return proved(source, root, paths, problems, options)
end

local DO = {}

--- Get what is missing, count it, prove what a split names.
---@async
function DO.fetch(source, root, folder, options)
  say(("%s (%s)"):format(source.title, source.terms))
  if (verify.count(source, root, function() end)) then
    say("all of it is there already: " .. root)
  else
    local ok, err = fetch.run(source, root, { from = options.from, unchecked = options.unchecked,
      say = say })
    if not ok then return nil, err end
    local code
    code, err = counted((verify.count(source, root, say)), source, root)
    if not code and not folder then return nil, err end
  end
  if not folder then return 0 end
  return check_split(source, root, folder, options)
end

--- Count and prove what is there, or what a split names.
function DO.verify(source, root, folder, options)
  if folder then return check_split(source, root, folder, options) end
  local complete, paths = verify.count(source, root, say)
  local code, err = proved(source, root, paths, {}, options)
  if not code then return nil, err end
  return counted(complete, source, root)
end

--- Make a split of what is there.
function DO.split(source, root, folder, options)
  if not folder then return refuse("usage", "split: give the folder to write", HELP) end
  local counts, err = split.run(source, root, folder, { seed = options.seed or 42,
    counts = { train = options.train, val = options.val, test = options.test } })
  if not counts then return nil, err end
  say(("%s: %d train, %d val, %d test items"):format(folder, counts.train, counts.val, counts.test))
  return 0
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse(DECLARATION, args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  local what, name, folder = table.unpack(line.arguments, 1, 3)
  if not DO[what] then return refuse("usage", "which of fetch, verify and split?", HELP) end
  if not name then return refuse("usage", what .. ": of which environment?", HELP) end
  local source = source_of.load(name)
  return DO[what](source, line.options.root or source.root(), folder, line.options)
end

return M
