--- Rules for the border between C and Lua: every rt module is in modules.h, has its
--- annotations in lua/meta, and every function of it has an annotation and a test.
local source = require "source"

local M = {}

local MODULES <const> = "runtime/host/modules.h"

--- Functions in the luaL_Reg tables of a file: name -> line.
local function registered(file)
  local names = {}
  for at, list in file.plain:gmatch("()luaL_Reg%s+[%w_]+%s*%[[^%]]*%]%s*=%s*(%b{})") do
    local first = source.line_of(file.plain, at)
    for offset, name in list:gmatch("(){%s*\"([%w_]+)\"%s*,") do
      if not name:match("^__") then names[name] = first + source.line_of(list, offset) - 1 end
    end
  end
  return names
end

--- Functions a meta file declares: name -> line.
local function declared(file)
  local names = {}
  for number, line in source.lines(file.text) do
    local name = line:match("^function [%w_.]+[.:]([%w_]+)%s*%(")
    if name then names[name] = number end
  end
  return names
end

--- The texts of the tests that speak of a module.
local function tests_of(files, module)
  local texts = {}
  for _, file in ipairs(files) do
    if file.path:match("^tests/") and file.plain:find("rt%." .. module .. "%f[^%w_]") then
      texts[#texts + 1] = file.plain
    end
  end
  return table.concat(texts, "\n")
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function check_meta(file, module, by_path, report)
  local path = ("lua/meta/rt.%s.lua"):format(module)
  local meta = by_path[path]
  if not meta then return report(file, 1, "annotation", "write " .. path) end
  if not meta.text:match("^%-%-%-@meta\n") then
    report(meta, 1, "annotation", "start with ---@meta")
  end
  local here, there = registered(file), declared(meta)
  for _, name in ipairs(sorted_keys(here)) do
    if not there[name] then
      report(file, here[name], "annotation", ("declare %s in %s"):format(name, path))
    end
  end
  for _, name in ipairs(sorted_keys(there)) do
    if not here[name] then
      report(meta, there[name], "annotation", ("%s is not in %s: drop it"):format(name, file.path))
    end
  end
end

local function check_tests(file, module, files, report)
  local texts, here = tests_of(files, module), registered(file)
  for _, name in ipairs(sorted_keys(here)) do
    if not texts:find("[.:]" .. name .. "%f[^%w_]") then
      local words = ("no test that names rt.%s calls %s"):format(module, name)
      report(file, here[name], "untested", words)
    end
  end
end

local function check_list(list, modules, report)
  local listed, before = {}, ""
  for number, line in source.lines(list.plain) do
    local name = line:match("^%s+X%(([%w_]+)%)")
    if name and name <= before then report(list, number, "modules", "keep the lines sorted") end
    if name and not modules[name] then
      report(list, number, "modules", ("nothing defines luaopen_rt_%s"):format(name))
    end
    if name then listed[name], before = true, name end
  end
  for _, name in ipairs(sorted_keys(modules)) do
    if not listed[name] then
      report(modules[name], 1, "modules", ("add X(%s) to %s"):format(name, MODULES))
    end
  end
end

--- Check all bindings of the tree.
---@param files table[] all files as source.open gives them
---@param report fun(file: table, line: integer, rule: string, words: string)
function M.check(files, report)
  local by_path, modules = {}, {}
  for _, file in ipairs(files) do
    by_path[file.path] = file
    if file.path:match("^runtime/host/") then
      for module in file.code:gmatch("int luaopen_rt_([%w_]+)%(lua_State %*L%)%s*{") do
        modules[module] = file
      end
    end
  end
  for _, module in ipairs(sorted_keys(modules)) do
    check_meta(modules[module], module, by_path, report)
    check_tests(modules[module], module, files, report)
  end
  if by_path[MODULES] then check_list(by_path[MODULES], modules, report) end
end

return M
