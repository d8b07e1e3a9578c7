--- Which folder a run works in: a new one, the one it continues, or the next one as a
--- fork of the newest.
local file = require "rt.file"
local identity = require "skillopt.run.identity"
local journal = require "rt.journal"
local json = require "rt.json"
local lock = require "rt.lock"
local raise = require "skillopt.raise"

local M = {}

local function numbered(root)
  local newest = 0
  for _, name in ipairs(file.list(root) or {}) do
    local n = name:match "^%d%d%d%d+$" and math.tointeger(tonumber(name))
    if n and n > newest then newest = n end
  end
  return newest
end

local function path_of(root, n)
  return string.format("%s/%04d", root, n)
end

--- Is there a run with a journal in the folder?
---@param path string
---@return boolean
function M.has_journal(path)
  return file.kind(path .. "/journal.db") == "file"
end

--- A folder in which a run was about to begin: nothing of it is there but its lock.
local function is_unborn(path)
  for _, name in ipairs(file.list(path) or {}) do
    if name ~= "run.lock" then return false end
  end
  return true
end

local function open_journal(path, opt)
  local j, note = journal.open(path .. "/journal.db", opt)
  if not j then error(note, 0) end
  return j, note
end

--- The identity a journal was last opened with; nil when it never was.
local function identity_in(j)
  local n = j:find("open", "", "identity")
  if not n then return nil end
  return json.decode(assert(j:read(n)))
end

--- Is the end of the run on file?
---@param j rt.Journal
---@return boolean
function M.has_ended(j)
  return j:find("value", "", "end") ~= nil
end

local function take(path, opt)
  local ok, err = file.mkdir(path)
  if not ok then error(err, 0) end
  local held, lock_note = lock.acquire(path .. "/run.lock")
  if not held then error(lock_note, 0) end
  local j, journal_note = open_journal(path, { accept_loss = opt.accept_loss })
  local notes = {}
  for _, note in ipairs { lock_note, journal_note } do
    if note ~= "" then notes[#notes + 1] = note end
  end
  return { path = path, lock = held, journal = j, notes = notes }
end

local function make_new(path, mode, opt)
  local run = take(path, opt)
  run.mode = mode
  return run
end

------------------------------------------------------------------------ parents

--- What a journal's run is a fork of, `{folder, retry_failed}`, as long as it has not ended;
--- nil when it is none.
local function parent_of(j)
  local n = not M.has_ended(j) and j:find("open", "", "parent")
  return n and json.decode(assert(j:read(n))) or nil
end

local function parent_name(j)
  local parent = parent_of(j)
  return parent and parent.folder
end

--- Open the run `name` beside this one for reading, and those that it was itself still
--- taking answers from.
local function open_parents(run, name)
  local root = run.path:match "^(.*)/[^/]*$" or "."
  run.parents = {}
  while name do
    local path = root .. "/" .. name
    if not M.has_journal(path) then
      run.notes[#run.notes + 1] = path
        .. ", which this run was forked from, is gone: what it still had is asked anew"
      return
    end
    local held, err = lock.acquire(path .. "/run.lock", { shared = true })
    if not held then error(err, 0) end
    local j = open_journal(path, { read_only = true })
    run.parents[#run.parents + 1] = { path = path, lock = held, journal = j }
    name = parent_name(j)
  end
end

--- A run folder that is there already: continue it when it is the same run.
local function try_continue(path, opt)
  local run = take(path, opt)
  run.known = identity_in(run.journal)
  if not run.known then
    run.mode = "new"
    return run
  end
  run.hard, run.soft = identity.differences(run.known, opt.identity)
  run.mode = "continue"
  return run
end

--- Continue: a fork that has not ended still takes what its parent has. One that was killed
--- before it said what it is begins as it was to begin.
local function continued(run)
  local name = parent_name(run.journal)
  if not name then return run end
  if run.mode == "new" then run.mode = "fork" end
  open_parents(run, name)
  return run
end

local function give_back(run)
  local ok, err = run.journal:close()
  if not ok then error(err, 0) end
  run.lock:release()
end

local function refuse(path, hard)
  raise("io", string.format("%s is the folder of another run; it differs in:\n  %s", path,
    table.concat(hard, "\n  ")), "choose another out_root, or leave it out: then each change "
    .. "starts the next folder by itself")
end

-- Files that the reference writes at the top of a run folder; ours has them and a journal.
local REFERENCE <const> = { "config.json", "history.json", "runtime_state.json", "summary.json" }

--- Refuse a folder that holds a run without a journal: one of the reference, whose steps
--- nothing here can vouch for, or one of ours that lost its journal.
local function refuse_foreign(path)
  local found = {}
  for _, name in ipairs(REFERENCE) do
    if file.kind(path .. "/" .. name) == "file" then found[#found + 1] = name end
  end
  if #found == 0 then return end
  local best = path .. "/best_skill.md"
  local advice = file.kind(best) == "file"
    and ("to go on from its best skill, start a new run with env.skill_init=%s and another "
      .. "env.out_root, or none"):format(best) or "choose another folder"
  local what = file.kind(path .. "/run.json") == "file"
    and "is a run folder whose journal.db is gone: it cannot be continued"
    or "holds a run of the reference (%s, and no journal.db): it cannot be continued"
  raise("io", ("%s %s"):format(path, what:format(table.concat(found, ", "))), advice)
end

--- Refuse a folder without a run whose best skill a run would write over.
local function spare_best_skill(path)
  local best = path .. "/best_skill.md"
  if file.kind(best) == "none" then return end
  raise("io", best .. " is no run's: a run in this folder would write over it",
    "choose another folder, or move the file")
end

--- An explicit folder: only the same run goes on there; changed code is listed.
local function explicit(path, opt)
  if opt.retry_failed then
    raise("usage", "--retry-failed makes a fork, and a folder that was named stays what it is",
      "leave out_root and --resume out")
  end
  if opt.new and M.has_journal(path) then
    raise("usage", string.format("%s holds a run already, and --new was asked for", path),
      "choose another folder")
  end
  if not M.has_journal(path) then
    refuse_foreign(path)
    spare_best_skill(path)
    return make_new(path, "new", opt)
  end
  local run = try_continue(path, opt)
  if run.mode == "continue" and #run.hard > 0 then
    give_back(run)
    refuse(path, run.hard)
  end
  return continued(run)
end

--- The parent is noted before anything else, so that a fork which is killed and continued
--- takes the same answers from it.
local function fork_of(root, n, opt)
  local run = make_new(path_of(root, n + 1), "fork", opt)
  local name = string.format("%04d", n)
  local row = json.canonical { folder = name, retry_failed = opt.retry_failed or false }
  local ok, err = run.journal:store("open", "", "parent", row)
  if not ok then error(err, 0) end
  open_parents(run, name)
  return run
end

--- Was the run begun by --retry-failed and not brought to its end? Then that is what the
--- same command goes on with.
local function is_open_retry(j)
  local parent = parent_of(j)
  return parent ~= nil and parent.retry_failed
end

--- The newest run under the root, open, and its number; nil and the number of the newest
--- folder when there is none to go on with. A folder whose journal is still empty was cut
--- off before it said what it is: the run before it counts, and its place is used again.
local function newest_run(opt)
  local newest = numbered(opt.root)
  if newest > 0 and is_unborn(path_of(opt.root, newest)) then newest = newest - 1 end
  if newest == 0 or opt.new or not M.has_journal(path_of(opt.root, newest)) then
    return nil, newest
  end
  local run = try_continue(path_of(opt.root, newest), opt)
  local is_empty = run.mode == "new" and run.journal:last() == 0
  if not is_empty or newest == 1 or not M.has_journal(path_of(opt.root, newest - 1)) then
    return run, newest
  end
  give_back(run)
  return try_continue(path_of(opt.root, newest - 1), opt), newest - 1
end

--- The newest folder before the newest of all that holds a run of this identity; folders
--- that somebody works in are passed over.
local function earlier(root, newest, opt)
  for n = newest - 1, 1, -1 do
    local path = path_of(root, n)
    local held = M.has_journal(path) and lock.acquire(path .. "/run.lock", { shared = true })
    local j = held and journal.open(path .. "/journal.db", { read_only = true })
    local known = j and identity_in(j)
    local hard, soft = { "unknown" }, {}
    if known then hard, soft = identity.differences(known, opt.identity) end
    if j then j:close() end
    if held then held:release() end
    if #hard + #soft == 0 then return path end
  end
end

--- Choose and open. With `returns` an earlier run of the same identity is gone on with when
--- the newest is another one. The result has path, lock, journal, mode ("new", "continue",
--- "fork"), notes (what the user should hear), and parents (the nearest first), hard, soft
--- where they apply.
---@async
---@param opt {root: string, out_root: string?, resume: string?, new: boolean?, retry_failed: boolean?, accept_loss: boolean?, returns: boolean?, identity: table}
---@return table
function M.open(opt)
  local fixed = opt.resume or opt.out_root
  if opt.resume and not M.has_journal(opt.resume) then
    refuse_foreign(opt.resume)
    raise("io", string.format("%s holds no run (there is no journal.db)", opt.resume))
  end
  if fixed then return explicit(fixed, opt) end
  local run, newest = newest_run(opt)
  if not run then return make_new(path_of(opt.root, newest + 1), "new", opt) end
  local same = run.mode == "new" or #run.hard + #run.soft == 0
  if same and (not opt.retry_failed or is_open_retry(run.journal)) then return continued(run) end
  local hard, soft = run.hard, run.soft
  give_back(run)
  local known = opt.returns and not opt.retry_failed and earlier(opt.root, newest, opt)
  if known then return continued(try_continue(known, opt)) end
  run = fork_of(opt.root, newest, opt)
  run.hard, run.soft = hard, soft
  return run
end

--- Point `latest` at the folder; that it cannot be is one of its notes.
---@param root string
---@param opened table
function M.link_latest(root, opened)
  local ok, err = file.link(root .. "/latest", opened.path:match "[^/]*$")
  if not ok then opened.notes[#opened.notes + 1] = "there is no link `latest`: " .. err.message end
end

return M
