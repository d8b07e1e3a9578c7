--- Tables for a terminal.
local figures = require "skillopt.figures"
local test = require "skillopt.test"

test("names stand to the left, figures to the right", function(t)
  t.equal(figures.lines({ { "arm", "n", "hard" }, { "no skill", "12", "0.5" } }, 1),
    { "arm        n  hard", "no skill  12   0.5" })
end)

test("characters are counted, not bytes", function(t)
  t.equal(figures.lines({ { "é", "1" }, { "ab", "2" } }, 1), { "é   1", "ab  2" })
end)

test("words in place of figures widen no column", function(t)
  t.equal(figures.lines({ { "arm", "n", "hard" }, { "no skill", "not run at all" },
    { "best", "3", "1.0" } }, 1),
    { "arm       n  hard", "no skill  not run at all", "best      3   1.0" })
end)
