--- What this program is, what it runs with, and which programs beside it are there.
local file = require "rt.file"
local loader = require "skillopt.loader"
local version = require "rt.version"

local M = {}

--- Programs that something could use, and what. Nothing needs them to train or evaluate.
---@type {name: string, serves: string}[]
M.PROGRAMS = {
  { name = "bwrap", serves = "isolation of child processes: planned, not used yet" },
  { name = "valgrind", serves = "development: memory checks of `make test-long`" },
  { name = "debootstrap", serves = "development: the bare Debian of `make test-long`" },
  { name = "clang-14", serves = "development: `make asan` and `make fuzz`" },
  { name = "clang-format-14", serves = "development: `make lint`" },
  { name = "clang-tidy-14", serves = "development: `make lint`" },
  { name = "cppcheck", serves = "development: `make lint`" },
  { name = "luacheck", serves = "development: `make lint`" },
  { name = "dpkg-shlibdeps", serves = "development: `make deb`" },
}

--- Where a program is, nil when it is in no folder of PATH.
---@param name string
---@return string?
function M.find(name)
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path = folder .. "/" .. name
    local kind = file.kind(path)
    if kind == "file" or kind == "link" then return path end
  end
end

--- The page of `skillopt --version`.
---@return string
function M.page()
  local lines = { string.format("skillopt %s (%s)", loader.version, loader.commit), "libraries:" }
  for _, library in ipairs(version.libraries()) do
    lines[#lines + 1] = string.format("  %-10s %s", library.name, library.version)
  end
  lines[#lines + 1] = "optional programs, none of them needed to train:"
  for _, program in ipairs(M.PROGRAMS) do
    lines[#lines + 1] = string.format("  %-15s %-26s %s", program.name,
      M.find(program.name) or "not found", program.serves)
  end
  return table.concat(lines, "\n") .. "\n"
end

return M
