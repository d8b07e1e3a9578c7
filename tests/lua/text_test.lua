--- Texts in characters, against CPython's `str`.
local test = require "skillopt.test"
local text = require "rt.text"
local vectors = test.support "tests/lua/vectors.lua"

local function code_points(is_member)
  local list = {}
  for code = 0, 0x10FFFF do
    local is_surrogate = code >= 0xD800 and code < 0xE000
    if not is_surrogate and is_member(utf8.char(code)) then
      list[#list + 1] = string.format("0x%x", code)
    end
  end
  return list
end

local function is_space(c) return text.strip(c) == "" end

local function is_gap(c) return #text.split("a" .. c .. "b") == 2 end

local function is_break(c) return #text.lines("a" .. c .. "b") == 2 end

local check = {
  strip = text.strip,
  rstrip = text.rstrip,
  splitlines = text.lines,
  lower = text.lower,
  casefold = text.casefold,
  len = text.length,
  all_whitespace_codepoints = function() return code_points(is_space) end,
  regex_s_codepoints = function() return code_points(is_gap) end,
  splitlines_codepoints = function() return code_points(is_break) end,
}

test("strip, rstrip, lines, lower, casefold, length and collapse equal core_text", function(t)
  local book = vectors.book "core_text.json"
  for i, case in ipairs(book.cases) do
    if case.fn == "collapse_ws" then
      t.equal(text.collapse(case["in"]), text.strip(case.out))
      book:note(i, text.strip(case.out) ~= case.out
        and "collapse also strips the space at the ends, which is done later there")
    else
      t.equal(check[case.fn](case["in"]), case.out)
      book:same()
    end
  end
  book:check(t)
end)

test("cut_at equals every case of envs_searchqa_truncate", function(t)
  local cases = test.vectors("envs_searchqa_truncate.json").cases
  t.equal(#cases, 141)
  for _, case in ipairs(cases) do
    t.equal(text.cut_at(case["in"].context, case["in"].max_chars, "[DOC]"), case.out)
  end
end)

test("upper, lower and casefold use the full mappings", function(t)
  t.equal(text.upper("straße ﬁ ᾳ ŉ i"), "STRASSE FI ΑΙ ʼN I")
  t.equal(text.lower("İSTANBUL ÀÉ"), "i̇stanbul àé")
  t.equal(text.casefold("Straße ΣΑΣ Ⅷ"), "strasse σασ ⅷ")
  t.equal(text.casefold("ﬃ"), "ffi")
end)

test("lower knows a final sigma by the letters around it", function(t)
  t.equal(text.lower("ΟΔΥΣΣΕΥΣ"), "οδυσσευς")
  t.equal(text.lower("Σ ΑΣ' ΑΣ'Α Α'Σ"), "σ ας' ασ'α α'ς")
  t.equal(text.lower("ΑΣ\xFFΣ"), "ας\xFFσ")
end)

test("nfc composes and orders marks", function(t)
  t.equal(text.nfc("cafe\u{301}"), "café")
  t.equal(text.nfc("q\u{307}\u{323}"), "q\u{323}\u{307}")
  t.equal(text.nfc("\u{1100}\u{1161}\u{11A8}"), "각")
  t.equal(text.nfc("\u{212B} e\xFF\u{301}"), "Å e\xFF\u{301}")
  t.equal(text.nfc("plain"), "plain")
end)

test("nfc is linear in a long run of unordered marks", function(t)
  local run = "a" .. ("\u{301}"):rep(100000) .. ("\u{323}"):rep(100000)
  local out = text.nfc(run)
  t.equal(out:sub(1, 5), "ạ" .. "\u{323}")
  t.equal(text.length(out), 200000)
end)

test("strip, lstrip and rstrip leave what only looks blank", function(t)
  t.equal(text.strip("\u{3000} a \u{85}"), "a")
  t.equal(text.lstrip("\u{A0}a\u{A0}"), "a\u{A0}")
  t.equal(text.rstrip("\u{A0}a\u{2028}"), "\u{A0}a")
  t.equal(text.strip("\u{200B}a\u{FEFF}"), "\u{200B}a\u{FEFF}")
  t.equal(text.strip(" \xA0 "), "\xA0")
  t.equal(text.strip(" \n "), "")
end)

test("split and lines take texts apart", function(t)
  t.equal(text.split(" a  b\u{3000}c\n"), { "a", "b", "c" })
  t.equal(text.split(" \t"), {})
  t.equal(text.lines("a\r\nb\rc\n\nd\n"), { "a", "b", "c", "", "d" })
  t.equal(text.lines(""), {})
end)

test("length and sub count characters", function(t)
  t.equal(text.length("aé漢🙂\xFF"), 5)
  t.equal(text.sub("aé漢🙂", 2, 3), "é漢")
  t.equal(text.sub("aé漢🙂", -2), "漢🙂")
  t.equal(text.sub("aé漢🙂", 0, 1), "a")
  t.equal(text.sub("aé漢🙂", -9, -4), "a")
  t.equal(text.sub("aé漢🙂", 3, 2), "")
  t.equal(text.sub("aé漢🙂", 5), "")
  t.equal(text.sub("aé", math.mininteger, math.maxinteger), "aé")
end)

test("fix and is_valid judge UTF-8", function(t)
  t.equal(text.is_valid("é"), true)
  t.equal(text.is_valid("\xC3"), false)
  t.equal(text.fix("a\xE2\x82b"), "a\u{FFFD}b")
  t.equal(text.fix("é"), "é")
end)

test("tokens are quarters of characters by width, rounded up", function(t)
  t.equal(text.tokens(""), 0)
  t.equal(text.tokens("a"), 1)
  t.equal(text.tokens("abcdefgh"), 2)
  t.equal(text.tokens("漢字"), 2)
  t.equal(text.tokens("éé"), 1)
  t.equal(text.tokens("🙂"), 2)
  for cut = 0, 5 do
    local whole = "ab漢é🙂"
    local sum = text.tokens(text.sub(whole, 1, cut)) + text.tokens(text.sub(whole, cut + 1))
    t.ok(sum - text.tokens(whole) == 0 or sum - text.tokens(whole) == 1, "not additive")
  end
end)

test("cut_middle keeps both ends within the limit", function(t)
  local out, removed = text.cut_middle(("a"):rep(50) .. ("z"):rep(50), 10, " .. ")
  t.equal(out, ("a"):rep(18) .. " .. " .. ("z"):rep(18))
  t.equal(removed, 64)
  t.equal({ text.cut_middle("short", 2) }, { "short", 0 })
  t.equal({ text.cut_middle("abcdefghij", 1, "longer than four") }, { "abcd", 6 })
  t.equal({ text.cut_middle("漢字漢字", 3, "..") }, { "漢..字", 2 })
  t.equal({ text.cut_middle("abcde", 0) }, { "", 5 })
  t.ok(text.tokens((text.cut_middle(("漢é🙂a"):rep(200), 77))) <= 77, "over the limit")
  t.raises(function() text.cut_middle("a", -1) end, "must not be negative")
end)

test("find looks for plain text and answers in characters", function(t)
  t.equal({ text.find("é.a.b", ".b") }, { 4, 5 })
  t.equal({ text.find("é.a.b", ".", 3) }, { 4, 4 })
  t.equal({ text.find("é.a", "%a") }, {})
  t.equal({ text.find("ab", "", 2) }, { 2, 1 })
  t.raises(function() text.find("a", "a", 0) end, "must be positive")
end)

test("replace gives no character a meaning", function(t)
  t.equal({ text.replace("5% of 5%", "5%", "%1%%") }, { "%1%% of %1%%", 2 })
  t.equal({ text.replace("aaa", "a", "b", { count = 2 }) }, { "bba", 2 })
  t.equal({ text.replace("aaa", "aa", "a") }, { "aa", 1 })
  t.equal({ text.replace("abc", "x", "y") }, { "abc", 0 })
  t.raises(function() text.replace("a", "", "b") end, "must not be empty")
  t.raises(function() text.replace("a", "a", "b", { cuont = 1 }) end, "did you mean 'count'")
end)

test("scrub hides every stretch covered by a secret", function(t)
  local key = "sk-0123456789abcdef"
  t.equal(text.scrub("key " .. key .. ".", { key }), "key ***.")
  t.equal(text.scrub(key .. key, { key }), "***")
  local overlapping = { "0123456789abcdef", "89abcdefghij4567", "456789abcdefghij" }
  t.equal(text.scrub("x0123456789abcdefghijz", overlapping), "x***z")
  t.equal(text.scrub(("a"):rep(20) .. "b", { ("a"):rep(16) }), "***b")
  local short = "EMPTY short-secret-15"
  t.equal(text.scrub(short, { "EMPTY", "short-secret-15" }), short)
  t.equal(text.scrub("éééééééé", { "éééééééé" }), "éééééééé")
  t.raises(function() text.scrub("a", { 1 }) end, "secrets must be strings")
end)

test("scrub is linear in a text that repeats its secret", function(t)
  t.equal(text.scrub(("ab"):rep(200000), { ("ab"):rep(100000) }), "***")
end)
