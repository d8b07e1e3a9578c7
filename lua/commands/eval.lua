--- `skillopt eval FILE|RUN`: evaluate skills and compare them item by item.
local approval = require "skillopt.run.approval"
local cli = require "skillopt.cli"
local closing = require "skillopt.run.eval_closing"
local evaluation_of = require "skillopt.run.evaluation"
local file = require "rt.file"
local folder_of = require "skillopt.run.folder"
local opening = require "skillopt.config.open"
local raise = require "skillopt.raise"
local run_of = require "skillopt.run"
local runs = require "skillopt.runs"
local schema = require "skillopt.schema"
local source_of = require "skillopt.run.eval_source"
local stdout = require "rt.stdout"
local text_of = require "rt.text"

local M = { summary = "evaluate skills: `skillopt eval outputs/houserules/latest --split test`" }

--- Exit code of a comparison of which too little was measured.
local TOO_LITTLE <const> = 7

------------------------------------------------------------------------- skills

local function read_skill(path, name)
  local text, err = file.read(path)
  if not text then
    raise("usage", err.message, "--skill takes a file, a run's folder, `initial` or `none`")
  end
  if not text_of.is_valid(text) then
    raise("data", path .. " is not valid UTF-8", "save the skill as UTF-8")
  end
  return { name = name, text = text }
end

--- What a word behind --skill means. A file of the name `none` is `./none`.
local function skill_of(word, source)
  if word == "none" then return { name = "none", text = "" } end
  if word == "initial" then
    if source and not source.initial then
      raise("usage", "an evaluation has no initial skill", "give the training run, or a file")
    end
    return { name = "initial", text = source and source.initial }
  end
  if file.kind(word) ~= "folder" then return read_skill(word, word) end
  local is_run = folder_of.has_journal(word) or file.kind(word .. "/best_skill.md") == "file"
  return read_skill((is_run and word or runs.find(word) or word) .. "/best_skill.md", word)
end

local function skills_of(line, source)
  local words, out = line.options.skill, {}
  if not words and not source then
    raise("usage", "which skill?", "--skill FILE, --skill initial or --skill none; a run's folder "
      .. "in place of the file takes that run's best skill")
  end
  for i, word in ipairs(words or { line.file }) do out[i] = skill_of(word, source) end
  return out
end

------------------------------------------------------------------ configuration

--- What the user should hear: keys that were said for this evaluation and that only
--- training looks at, and whether the run has gone to its end.
local function notes_of(line, source)
  local notes = {}
  if source and not source.has_ended and not line.options.skill then
    notes[1] = line.file .. " has not ended: this is its best skill so far"
  end
  for _, a in ipairs(line.assignments) do
    local key = schema.find(schema.core, a.name)
    if key and key.class == "result" and not evaluation_of.uses(key.name) then
      notes[#notes + 1] = string.format("%s has no effect here: an evaluation does not use %s",
        a.from, key.name)
    end
  end
  return notes
end

--- Configuration, its file and its folders, from a file of the user's.
local function from_file(line)
  local request = opening.request(line)
  request.complete, request.roles = true, evaluation_of.ROLES
  local config, err = require("skillopt.config").resolve(request)
  if not config then error(err, 0) end
  return { config = config, file = line.file, folders = opening.folders(line.file),
    load = request.load }
end

local function asked_of(line, made)
  local split, config = line.options.split or "all", made.config
  local is_here = config:origin "env.out_root" == "command line"
  local out_root = is_here and config:get "env.out_root" or nil
  local source = made.source or {}
  return {
    splits = split == "all" and evaluation_of.ALL or { split },
    items = split == "all" and 0 or config:get "evaluation.test_env_num",
    skills = skills_of(line, made.source), name = source.name,
    out_root = out_root ~= "" and out_root or nil,
    data = source.data, keys = source.keys, notes = notes_of(line, made.source),
  }
end

---------------------------------------------------------------------------- run

local function show(run, result, asked, options)
  if options.json or not options.quiet then
    closing.show(run, result, { json = options.json, splits = asked.splits })
  end
  local min_items = run.config:get "evaluation.min_items"
  local one = closing.undecided(result, { splits = asked.splits, min_items = min_items })
  if not one then return 0 end
  stdout.error(string.format("skillopt: too little was measured to decide between %s and %s: "
    .. "%d items have a mark on both sides (evaluation.min_items = %d)\n  --retry-failed rolls "
    .. "out again what failed\n", one.arm.skill, one.over.skill, one.n, min_items))
  return TOO_LITTLE
end

--- The folder of the run when the word names one as it does for `show`, else the word.
local function run_named(word)
  if folder_of.has_journal(word) or file.kind(word) == "file" then return word:match "^(.-)/*$" end
  local found = runs.find(word)
  return found and folder_of.has_journal(found) and found or word
end

---@async
---@param args string[]
---@return integer? code
---@return skillopt.Err? err
function M.run(args)
  local line, err = cli.parse("eval", args)
  if not line then return nil, err end
  if line.help then
    stdout.write(line.help)
    return 0
  end
  if not line.file then
    raise("usage", "what is evaluated? give a configuration or the folder of a run",
      "for example: skillopt eval outputs/houserules/latest --split test")
  end
  line.file = run_named(line.file)
  local made = folder_of.has_journal(line.file) and source_of.read(line) or from_file(line)
  local asked, o = asked_of(line, made), line.options
  local run = run_of.prepare { config = made.config, file = made.file, folders = made.folders,
    load = made.load, program = evaluation_of.program(asked) }
  local result = run_of.go(run, { new = o.new, resume = o.resume, retry_failed = o.retry_failed,
    accept_loss = o.accept_loss, quiet = o.quiet, json = o.json,
    approve = approval.of(made.config, o) })
  return show(run, result, asked, o)
end

return M
