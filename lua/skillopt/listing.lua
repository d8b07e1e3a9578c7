--- What there is: environments, policies, back-ends, commands, runs. Each list is rows of
--- `{name, ...}` with the words for its columns.
local backends = require "skillopt.schema.backends"
local figures = require "skillopt.figures"
local commands = require "skillopt.commands"
local file = require "rt.file"
local loader = require "skillopt.loader"
local opening = require "skillopt.config.open"
local reading = require "skillopt.run.reading"
local runs = require "skillopt.runs"
local visible = require "skillopt.visible"

local M = {}

---@class skillopt.Listing
---@field heading string[]
---@field fields string[] of a row, in the order of the columns
---@field rows table[]

--- The first sentence of the comment that a Lua file begins with.
local function about(path)
  local text = file.read(path, { max = 1 << 20 }) or ""
  local words = {}
  for line in text:gmatch "[^\n]+" do
    local comment = line:match "^%-%-%-? ?(.*)$"
    if not comment then break end
    words[#words + 1] = comment
  end
  local joined = table.concat(words, " ")
  return joined:match "^(.-%.)%s" or joined
end

local function env_row(folder, entry, place)
  local path = folder .. "/" .. entry .. "/init.lua"
  if file.kind(path) ~= "file" then return nil end
  return { name = entry, about = about(path), place = place }
end

--- Environments: those of the working directory's search path, then the installed ones.
---@return skillopt.Listing
function M.envs()
  local out = { heading = { "name", "where", "" }, fields = { "name", "place", "about" },
    rows = {} }
  local places = { { loader.home .. "/lua/envs", "installed" } }
  for _, folder in ipairs(opening.folders()) do
    places[#places + 1] = { folder .. "/envs", folder }
  end
  for _, place in ipairs(places) do
    for _, entry in ipairs(file.list(place[1]) or {}) do
      out.rows[#out.rows + 1] = env_row(place[1], entry, place[2])
    end
  end
  return out
end

local function add_policies(out, root, place)
  for _, slot in ipairs(file.list(root) or {}) do
    for _, entry in ipairs(file.list(root .. "/" .. slot) or {}) do
      local name = entry:match "^([a-z][a-z0-9_]*)%.lua$"
      if name then
        out.rows[#out.rows + 1] = { slot = slot, name = name, place = place,
          about = about(string.format("%s/%s/%s", root, slot, entry)) }
      end
    end
  end
end

--- Policies by slot.
---@return skillopt.Listing
function M.policies()
  local out = { heading = { "slot", "name", "where", "" },
    fields = { "slot", "name", "place", "about" }, rows = {} }
  add_policies(out, loader.home .. "/lua/policies", "installed")
  for _, folder in ipairs(opening.folders()) do add_policies(out, folder .. "/policies", folder) end
  return out
end

local function roles_of(backend)
  local list = {}
  for _, role in ipairs { "optimizer", "target" } do
    if backend.roles[role] then list[#list + 1] = role end
  end
  return table.concat(list, ", ")
end

--- Back-ends, those that this version cannot use included.
---@return skillopt.Listing
function M.backends()
  local out = { heading = { "name", "usable", "roles", "model unless named", "also called", "" },
    fields = { "name", "usable", "roles", "model", "aliases" }, rows = {} }
  for _, backend in ipairs(backends.list) do
    if not backend.means then
      out.rows[#out.rows + 1] = { name = backend.name, usable = backend.usable and "yes" or "no",
        roles = roles_of(backend), model = backend.model or "",
        aliases = table.concat(backend.aliases or {}, ", ") }
    end
  end
  return out
end

--- Commands.
---@return skillopt.Listing
function M.commands()
  local out = { heading = { "name", "", "" }, fields = { "name", "about" }, rows = {} }
  for _, name in ipairs(commands.names()) do
    out.rows[#out.rows + 1] = { name = name, about = commands.summary(name) }
  end
  return out
end

local function score(x) return type(x) == "number" and string.format("%.4f", x) or "-" end

local function steps_of(done, planned)
  return planned and string.format("%d/%d", done, planned // 1) or tostring(done)
end

local function run_row(path, experiment)
  local view, err = reading.open(path)
  if not view then
    return { experiment = experiment, path = path, state = "damaged", steps = "-", best = "-",
      test = "-", note = err.message:match "[^\n]*$" }
  end
  local state, done, planned = view:standing()
  local last, summary = view.history[#view.history] or {}, view.summary or {}
  local notes = { view.is_evaluation and "evaluation" or nil }
  if view.is_reference then notes[#notes + 1] = "made by the reference" end
  return { experiment = experiment, path = path, state = #view.damaged > 0 and "damaged" or state,
    steps = view.is_evaluation and "-" or steps_of(done, planned),
    best = score(summary.best_selection_hard or last.best_score), test = score(summary.test_hard),
    note = table.concat(notes, ", ") }
end

--- Runs below a folder, by experiment, the oldest first.
---@param root string?
---@return skillopt.Listing
function M.runs(root)
  root = root or runs.ROOT
  local out = { heading = { "run", "state", "steps", "best", "test", "" },
    fields = { "path", "state", "steps", "best", "test", "note" }, rows = {} }
  for _, experiment in ipairs(runs.experiments(root)) do
    for _, path in ipairs(runs.folders(root, experiment)) do
      out.rows[#out.rows + 1] = run_row(path, experiment)
    end
  end
  return out
end

--- A list for people.
---@param listing skillopt.Listing
---@return string
function M.page(listing)
  local rows = { listing.heading }
  for i, row in ipairs(listing.rows) do
    local cells = {}
    for k, field in ipairs(listing.fields) do cells[k] = visible.line(tostring(row[field]), 160) end
    rows[i + 1] = cells
  end
  return table.concat(figures.lines(rows, #listing.heading), "\n") .. "\n"
end

return M
