--- Text from elsewhere on a screen.
local test = require "skillopt.test"
local visible = require "skillopt.visible"

test("controls are shown as escapes, line breaks and tabs stay", function(t)
  t.equal(visible.text "a\27[31mb\tc\nd\7\0\127\r", "a\\x1b[31mb\tc\nd\\x07\\x00\\x7f\\x0d")
end)

test("controls of Unicode and marks of direction are shown as escapes", function(t)
  t.equal(visible.text "a\u{9b}b\u{202e}c\u{2066}d\u{2028}e",
    "a\\u{9b}b\\u{202e}c\\u{2066}d\\u{2028}e")
end)

test("letters of any script stay, invalid bytes become U+FFFD", function(t)
  t.equal(visible.text "äöü 漢字 😀 \u{a0}", "äöü 漢字 😀 \u{a0}")
  t.equal(visible.text "a\xffb", "a\u{fffd}b")
end)

test("a line has no breaks and is cut in characters", function(t)
  t.equal(visible.line("a\nb\tc", 10), "a b c")
  t.equal(visible.line("漢字漢字漢字", 5), "漢字...")
  t.equal(visible.line("漢字漢字漢", 5), "漢字漢字漢")
end)
