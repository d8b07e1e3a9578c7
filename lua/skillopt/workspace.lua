--- Workspaces, and the processes that run in them.
---
--- A workspace is a value: a tree of files. The program's own writes change it, and so
--- does each process, whose answer tells what it changed; the contents lie in the journal
--- by their digest. A folder on disk is made only when a process is about to run for
--- real, and brought to the tree then: after answers from the journal it is rebuilt. So a
--- run that is continued hands its processes the files they would have found.
local core = require "rt.task"
local digest = require "rt.digest"
local effect = require "skillopt.effect"
local file = require "rt.file"
local flow = require "rt.flow"
local json = require "rt.json"
local options = require "skillopt.options"
local process = require "rt.process"
local raise = require "skillopt.raise"
local text = require "rt.text"
local tree = require "rt.tree"

local M = {}

--- Limits of a process that are answers when they are reached.
local OUTPUT_MAX <const> = 1 << 20
local TREE_BYTES <const> = 64 << 20
local TREE_FILES <const> = 10000
local TREE_LIMITS <const> = { entries = TREE_FILES, bytes = TREE_BYTES }
local TIMEOUT_S <const> = 60

--- Longest argument the system takes.
local ARGUMENT_MAX <const> = (1 << 17) - 1
--- Links followed one after the other.
local HOPS_MAX <const> = 40
--- Starts of a child that the machine has no room for, and seconds between them.
local STARTS <const>, PAUSE_S <const> = 5, 0.5

--- The environment of every process, as the request has it. A value that begins with
--- /workspace, and TMPDIR, get the place on disk.
local ENVIRONMENT <const> = {
  PATH = "/usr/local/bin:/usr/bin:/bin", HOME = "/workspace", TMPDIR = "/tmp", LANG = "C.UTF-8",
  TZ = "UTC", PYTHONHASHSEED = "0", PYTHONDONTWRITEBYTECODE = "1",
}

---@class skillopt.Workspace
---@field owner table locals of the task that made it
---@field effects skillopt.Effects
---@field log fun(event: table)
---@field tree table<string, table> entries by path
---@field count integer entries of the tree
---@field bytes integer in its files
---@field own table<string, string> contents the program wrote, by digest
---@field disk table<string, table>? what the folder holds; nil when that is not known
---@field folder string? where it is, with the folders `files` and `tmp`
local Workspace = {}
Workspace.__index = Workspace
Workspace.__name = "workspace"

local function check_owner(self, what)
  if core.locals() ~= self.owner then
    error(what .. ": a workspace belongs to the task that made it", 3)
  end
end

----------------------------------------------------------------------- the tree

local function set(self, entry)
  local old = self.tree[entry.path]
  self.count = self.count + (old and 0 or 1)
  self.bytes = self.bytes + (entry.size or 0) - (old and old.size or 0)
  self.tree[entry.path] = entry
end

local function unset(self, path)
  local old = self.tree[path]
  if not old then return end
  self.count = self.count - 1
  self.bytes = self.bytes - (old.size or 0)
  self.tree[path] = nil
end

local function sorted_paths(map)
  local paths = {}
  for path in pairs(map) do paths[#paths + 1] = path end
  table.sort(paths)
  return paths
end

local function list_of(map)
  local list = json.array {}
  for i, path in ipairs(sorted_paths(map)) do list[i] = map[path] end
  return list
end

local function map_of(list)
  local map = {}
  for _, entry in ipairs(list) do map[entry.path] = entry end
  return map
end

local function is_same(a, b)
  return a.kind == b.kind and a.mode == b.mode and a.digest == b.digest and a.target == b.target
end

--- What leads from one tree to the other: paths that go, then entries that come, folders
--- before what lies in them.
local function difference(from, to)
  local change = { gone = json.array {}, put = json.array {} }
  for _, path in ipairs(sorted_paths(from)) do
    local new = to[path]
    if not new or new.kind ~= from[path].kind then change.gone[#change.gone + 1] = path end
  end
  for _, path in ipairs(sorted_paths(to)) do
    local old = from[path]
    if not old or not is_same(old, to[path]) then change.put[#change.put + 1] = to[path] end
  end
  return change
end

local function apply(self, change)
  for _, path in ipairs(change.gone) do unset(self, path) end
  for _, entry in ipairs(change.put) do set(self, entry) end
end

--- Bytes of a file of the tree.
local function content(self, entry)
  local own = self.own[entry.digest]
  if own then return own end
  local n = self.effects.journal:find("body", "", entry.digest)
  if not n then raise("io", string.format("the journal has no content of %s", entry.path)) end
  local bytes, err = self.effects.journal:read(n)
  if not bytes then error(err, 0) end
  return bytes
end

local function steps_of(path, rest)
  local steps = {}
  for step in path:gmatch "[^/]+" do steps[#steps + 1] = step end
  return table.move(rest, 1, #rest, #steps + 1, steps)
end

--- The entry `path` leads to, links followed; nil when there is none.
local function resolve(self, path)
  local at, rest, hops = {}, steps_of(path, {}), 0
  local entry
  while #rest > 0 do
    local step = table.remove(rest, 1)
    at[#at + (step == ".." and 0 or 1)] = step ~= ".." and step or nil
    entry = self.tree[table.concat(at, "/")]
    if not entry and #at > 0 then return nil end
    if entry and entry.kind == "link" then
      hops = hops + 1
      if hops > HOPS_MAX then return nil end
      at[#at] = nil
      rest = steps_of(entry.target, rest)
    elseif entry and entry.kind == "file" and #rest > 0 then
      return nil
    end
  end
  return entry
end

------------------------------------------------------------------ what users call

--- See lua/meta/ctx.lua.
---@param path string
---@return string?
function Workspace:read(path)
  check_owner(self, "workspace:read")
  local entry = type(path) == "string" and tree.is_path(path) and resolve(self, path)
  if not entry or entry.kind ~= "file" then return nil end
  return content(self, entry)
end

--- The folders above `path`, those that are not there yet included.
local function make_folders(self, path)
  for stop in path:gmatch "()/" do
    local above = path:sub(1, stop - 1)
    local entry = self.tree[above]
    if entry and entry.kind ~= "folder" then
      raise("usage", string.format("'%s' is a %s, not a folder", above, entry.kind))
    end
    if not entry then set(self, { path = above, kind = "folder", mode = 493 }) end -- rwxr-xr-x
  end
end

local function check_room(self, path, size)
  local old = self.tree[path]
  if self.bytes + size - (old and old.size or 0) > TREE_BYTES then
    raise("limit", string.format("a workspace holds no more than %d bytes", TREE_BYTES))
  end
  local _, above = path:gsub("/", "")
  if self.count + above + 1 > TREE_FILES then
    raise("limit", string.format("a workspace holds no more than %d files", TREE_FILES))
  end
end

--- See lua/meta/ctx.lua.
---@param path string
---@param bytes string
function Workspace:write(path, bytes)
  check_owner(self, "workspace:write")
  if type(bytes) ~= "string" then error("workspace:write: bytes must be text", 2) end
  if type(path) ~= "string" or not tree.is_path(path) then
    raise("usage", string.format("'%s' is no path inside the workspace", tostring(path)))
  end
  local old = self.tree[path]
  if old and old.kind == "folder" then raise("usage", string.format("'%s' is a folder", path)) end
  check_room(self, path, #bytes)
  make_folders(self, path)
  local id = digest.sha256(bytes)
  self.own[id] = bytes
  local mode = old and old.mode or 420 -- rw-r--r--
  set(self, { path = path, kind = "file", mode = mode, size = #bytes, digest = id })
end

--- See lua/meta/ctx.lua.
---@return string[]
function Workspace:list()
  check_owner(self, "workspace:list")
  local paths = {}
  for _, path in ipairs(sorted_paths(self.tree)) do
    if self.tree[path].kind ~= "folder" then paths[#paths + 1] = path end
  end
  return paths
end

local function close(self)
  local folder = self.folder
  self.folder, self.disk = nil, nil
  if folder then file.remove(folder:match "[^/]*$", { root = folder:match "^(.*)/" }) end
end
Workspace.__gc = close

--- A new empty workspace of the calling task.
---@param place table
---@return skillopt.Workspace
function M.new(place)
  local self = setmetatable({
    owner = core.locals(), effects = place.run.effects, log = place.run.log,
    tree = {}, count = 0, bytes = 0, own = {},
  }, Workspace)
  if place.item then
    place.item.workspaces = place.item.workspaces or {}
    table.insert(place.item.workspaces, self)
  end
  return self
end

--- Remove the folders of an item that has ended.
---@param item table of its place
function M.close(item)
  for _, workspace in ipairs(item.workspaces or {}) do close(workspace) end
end

------------------------------------------------------------------------- on disk

local made = 0 -- folders so far; their names have one length

local function must(value, err)
  if not value then error(err, 0) end
  return value
end

local function renew(folder)
  must(file.remove(folder:match "[^/]*$", { root = folder:match "^(.*)/" }))
  must(file.mkdir(folder))
end

local function files_of(self) return self.folder .. "/files" end
local function temporary_of(self) return self.folder .. "/tmp" end

local function open_folder(self)
  if not self.folder then
    made = made + 1
    self.folder = string.format("%s/%08d", must(process.scratch()), made)
  end
  if not self.disk then
    renew(files_of(self))
    self.disk = {}
  end
  renew(temporary_of(self))
end

--- Bring the folder to the tree, and see that it is.
local function rebuild(self)
  open_folder(self)
  local root, change = files_of(self), difference(self.disk, self.tree)
  if #change.gone + #change.put == 0 then return end
  self.disk = nil
  for _, path in ipairs(change.gone) do must(file.remove(path, { root = root })) end
  for _, entry in ipairs(change.put) do
    must(tree.put(root, entry, entry.kind == "file" and content(self, entry) or nil))
  end
  self.disk = map_of(must(tree.scan(root, TREE_LIMITS)))
  local rest = difference(self.disk, self.tree)
  if #rest.gone + #rest.put > 0 then
    local path = rest.gone[1] or rest.put[1].path
    raise("io", string.format("the workspace cannot be rebuilt: %s differs", path))
  end
end

local function replaced(s, from, to)
  return (s:gsub(from:gsub("%p", "%%%0"), to))
end

--- Own paths as they are told to the program.
local function without_paths(self, s)
  return replaced(replaced(s, files_of(self), "/workspace"), temporary_of(self), "/tmp")
end

--- Names and values, sorted, with the folders in their place.
local function environment_on_disk(self, environment)
  local out = {}
  for name, value in pairs(environment) do
    local rest = value == "/workspace" and "" or value:match "^/workspace(/.*)"
    if rest then value = files_of(self) .. rest end
    if name == "TMPDIR" and value == "/tmp" then value = temporary_of(self) end
    out[#out + 1] = name .. "=" .. value
  end
  return out
end

---@async
local function run_child(self, request, input)
  for start = 1, STARTS do
    local answer, err = process.run {
      argv = request.argv, env = environment_on_disk(self, request.env),
      folder = files_of(self), input = input, timeout_s = request.limits.timeout_s,
      output_max = OUTPUT_MAX, file_max = TREE_BYTES + 1,
    }
    if answer then return answer end
    if not err.retry or start == STARTS then error(err, 0) end
    flow.sleep(PAUSE_S)
  end
end

--- The files of the entries, without secrets; true when one had to be written anew.
local function read_files(self, entries)
  local bodies, has_changed = {}, false
  for _, entry in ipairs(entries) do
    if entry.kind == "file" then
      local path = files_of(self) .. "/" .. entry.path
      local bytes = must(file.read(path))
      local clean = self.effects.scrub(bytes)
      if clean ~= bytes then
        must(tree.put(files_of(self), entry, clean))
        has_changed = true
      end
      bodies[#bodies + 1] = { key = entry.digest, bytes = clean }
    end
  end
  return bodies, has_changed
end

--- What the process has changed, with the contents; nil when the tree is too large.
local function look(self)
  local entries, notes = tree.scan(files_of(self), TREE_LIMITS)
  if not entries then
    if notes.kind == "limit" then return nil end
    error(notes, 0)
  end
  local found = map_of(entries)
  local change = difference(self.tree, found)
  local bodies, has_changed = read_files(self, change.put)
  if has_changed then return look(self) end
  self.disk, change.notes = found, notes
  return change, bodies
end

--- Run for real: the answer to be stored, the contents beside it.
---@async
local function perform(self, request, input)
  rebuild(self)
  self.disk = nil
  local answer = run_child(self, request, input)
  local change, bodies = look(self)
  answer.stdout = without_paths(self, answer.stdout)
  answer.stderr = without_paths(self, answer.stderr)
  if not change then
    answer.state, answer.code = "tree", nil
    change = { gone = json.array {}, put = json.array {}, notes = {} }
  end
  for _, note in ipairs(change.notes) do
    self.log { event = "removed", slot = core.slot(), message = note }
  end
  change.notes = json.array(change.notes)
  answer.change = change
  return { value = answer, bodies = bodies }
end

---------------------------------------------------------------------------- run

local OPTIONS <const> = { workspace = true, stdin = true, timeout_s = true, env = true }

local function is_text(value)
  return type(value) == "string" and not value:find("\0", 1, true) and text.fix(value) == value
end

local function check_argv(argv)
  if type(argv) ~= "table" or #argv == 0 or argv[1] == "" then
    error("ctx:run: argv is a list: the program, then its arguments", 4)
  end
  local out = json.array {}
  for i, word in ipairs(argv) do
    if not is_text(word) then
      raise("usage", string.format("argument %d is no text (UTF-8 without zero bytes)", i))
    end
    if #word > ARGUMENT_MAX then
      raise("usage", string.format("argument %d is longer than %d bytes", i, ARGUMENT_MAX),
        "hand it over as stdin or in a file")
    end
    out[i] = word
  end
  return out
end

local function environment_of(given)
  local out = {}
  for name, value in pairs(ENVIRONMENT) do out[name] = value end
  for name, value in pairs(given or {}) do
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" or not is_text(value) then
      error("ctx:run: env is a table of names and texts", 4)
    end
    out[name] = value
  end
  return json.object(out)
end

local function check_timeout(seconds)
  if seconds == nil then return TIMEOUT_S end
  if type(seconds) ~= "number" or not (seconds >= 0.001 and seconds <= 1e6) then
    error("ctx:run: timeout_s must be a number above 0", 4)
  end
  return seconds
end

local function check_stdin(bytes)
  if bytes ~= nil and type(bytes) ~= "string" then error("ctx:run: stdin must be text", 4) end
  return bytes or ""
end

local function check_sandbox(place)
  if place.run.config:get "sandbox" == "none" then return end
  error({ kind = "config", fatal = true, retry = false,
    message = "ctx:run: there is no sandbox for child processes in this version",
    hint = "`sandbox: none` runs them without: they can do what you can" }, 0)
end

local function workspace_of(place, given)
  if given == nil then return M.new(place) end
  if getmetatable(given) ~= Workspace then
    error("ctx:run: workspace is what ctx:workspace() gives", 4)
  end
  check_owner(given, "ctx:run")
  return given
end

--- See `ctx:run` in lua/meta/ctx.lua.
---@async
---@param place table
---@param argv string[]
---@param opt table?
---@return table
function M.run(place, argv, opt)
  opt = options.check(opt, OPTIONS, "ctx:run")
  local input = check_stdin(opt.stdin)
  local request = {
    kind = "process", argv = check_argv(argv), stdin = digest.sha256(input),
    env = environment_of(opt.env), network = true, inputs = json.array {},
    limits = { timeout_s = check_timeout(opt.timeout_s), output = OUTPUT_MAX,
      tree_bytes = TREE_BYTES, tree_files = TREE_FILES },
  }
  check_sandbox(place)
  local self = workspace_of(place, opt.workspace)
  request.tree = digest.sha256(json.canonical(list_of(self.tree)))
  local value = effect.perform(self.effects, digest.sha256(json.canonical(request)), function()
    return perform(self, request, input)
  end)
  apply(self, value.change)
  if not opt.workspace then close(self) end
  return { state = value.state, code = value.code, stdout = value.stdout, stderr = value.stderr }
end

return M
