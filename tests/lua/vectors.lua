--- Cases of the reference's vectors, and which of them come out otherwise here on purpose.
---
--- A test that walks a file says of each case that it is the same, or why it is not. What
--- differs is listed in tests/vectors/differs.json, case by case with its reason: a case
--- that newly differs, or no longer does, fails the test, and so does one that is left out.
local json = require "rt.json"
local test = require "skillopt.test"

local M = {}

local Book = {}
Book.__index = Book

--- The cases of a file of vectors, for one test. Several tests may share a file when each
--- names its `part`.
---@param name string
---@param part string?
---@return table book with `cases`
function M.book(name, part)
  return setmetatable({ name = name, part = part or "all", cases = test.vectors(name).cases,
    compared = 0, reasons = {} }, Book)
end

--- A case came out as in the reference.
function Book:same() self.compared = self.compared + 1 end

--- A case differs on purpose, or has no counterpart here.
---@param number integer of the case, from 1
---@param why string
function Book:differs(number, why)
  local list = self.reasons[why] or json.array {}
  self.reasons[why] = list
  list[#list + 1] = number
end

--- A case that differs when there is a reason.
---@param number integer
---@param why string|nil|false
function Book:note(number, why)
  if why then self:differs(number, why) else self:same() end
end

--- What is listed: by file, then by part.
---@return table<string, table<string, {compared: integer, differs: table<string, integer[]>}>>
function M.listed()
  return json.decode(test.read "tests/vectors/differs.json")
end

--- What was found is what is listed.
---@param t skillopt.Test
function Book:check(t)
  local found = { compared = self.compared, differs = json.object(self.reasons) }
  local listed = (M.listed()[self.name] or {})[self.part] or {}
  t.equal(json.canonical(found), json.canonical(listed), self.name .. " " .. self.part)
end

return M
