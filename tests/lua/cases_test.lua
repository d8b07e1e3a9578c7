--- Every case of tests/cases/index.json is covered by a test that names its file, or
--- stands here with the reason.
local json = require "rt.json"
local test = require "skillopt.test"

local COVERED = {
  ["tests/c/test_reply.c"] = { "a01", "a02", "a03", "a05", "a06", "a08", "a10", "a11" },
  ["tests/lua/patch_test.lua"] = { "a09" },
  ["tests/lua/evaluation_test.lua"] = { "a14", "c01" },
  ["tests/lua/document_test.lua"] = { "b01", "b02", "b03", "b05", "b07", "b08", "b10" },
  ["tests/lua/template_test.lua"] = { "b11" },
  ["tests/lua/fitness_test.lua"] = { "b12" },
  ["tests/lua/gate_test.lua"] = { "c02", "c03" },
  ["tests/lua/dataset_test.lua"] = { "c04", "d01", "d02", "d03", "d05" },
  ["tests/lua/score_test.lua"] = { "c07" },
  ["tests/lua/rate_test.lua"] = { "c12" },
  ["tests/lua/aggregate_test.lua"] = { "c13" },
  ["tests/lua/leakage_test.lua"] = { "c16" },
  ["tests/lua/config_test.lua"] = { "d12", "f01", "f05" },
  ["tests/c/test_answer.c"] = { "e01" },
  ["tests/c/test_sse.c"] = { "e03" },
  ["tests/c/test_openai_chat.c"] = { "e04", "e05", "e07", "e08", "e10", "e11" },
  ["tests/c/test_ledger.c"] = { "f02" },
  ["tests/c/test_lock.c"] = { "f04" },
  ["tests/lua/arms_test.lua"] = { "f06" },
}

-- What has no file of its own in a test, and why.
local ELSEWHERE = {
  c09 = "choice labels belong to a benchmark that is not here yet",
  c10 = "ANLS belongs to a benchmark that is not here yet",
  c15 = "a systemic failure needs a provider: tests/e2e/training.sh, the wrong login",
  c17 = "an environment's `check` refuses a bad item; no shipped environment has patterns",
  d07 = "rows are derived files here and never read; torn lines of the log are cut off",
  d08 = "an answer is valid for its whole request, so rows of another candidate cannot match",
  d10 = "derived files are never read; zero scores are in the traces of e2e_test.lua",
  d11 = "derived files are never read; a damaged journal is in tests/c/test_journal.c",
  e12 = "agent CLIs are not in this version", e13 = "agent CLIs are not in this version",
  e14 = "agent CLIs are not in this version",
}

test("every hostile case is covered, or says why not", function(t)
  local where = {}
  for path, names in pairs(COVERED) do
    local text = test.read(path)
    for _, name in ipairs(names) do where[name] = { path = path, text = text } end
  end
  for _, case in ipairs(json.decode(test.read "tests/cases/index.json")) do
    local name = case.file:match "^(%w+)_"
    local cover = where[name]
    t.ok(cover or ELSEWHERE[name], case.file .. " is neither covered nor listed")
    if cover then
      t.ok(cover.text:find(name .. "_", 1, true), cover.path .. " does not name " .. name)
      t.ok(not ELSEWHERE[name], name .. " is listed twice")
    end
  end
end)
