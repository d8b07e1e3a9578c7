--- The simulated model: how it reads, learns, follows, merges; and that it learns rules it
--- has not seen.
local file = require "rt.file"
local json = require "rt.json"
local loader = require "skillopt.loader"
local sim = require "backends.sim"
local analyst = require "backends.sim.analyst"
local induce = require "backends.sim.induce"
local learn = require "backends.sim.learn"
local merge = require "backends.sim.merge"
local ops = require "backends.sim.ops"
local reader = require "backends.sim.reader"
local rule_of = require "backends.sim.rule"
local sample = require "backends.sim.sample"
local shape = require "backends.sim.shape"
local target = require "backends.sim.target"
local template = require "backends.sim.template"
local test = require "skillopt.test"
local support = test.support "tests/lua/support.lua"

----------------------------------------------------------------- values and templates

test("the parts of a value that change are classes, signs and units stay", function(t)
  local cases = {
    ["4 March 2021"] = "{number} {month} {number}", ["Ann Lee"] = "{Word} {Word}",
    ["2.4 kg"] = "{number} kg", ["12kg"] = "{number}kg", ["1,250.50 EUR"] = "{number} EUR",
    ["ab-0417"] = "{word}-{number}", ["yes"] = "{word}", ["red, green and blue"] = "{list}",
    ["3:05 pm"] = "{number}:{number} pm", ["04.03.2021"] = "{number}.{number}",
    ["AB/12"] = "{WORD}/{number}",
    ["(030) 12-3"] = "({number}) {number}-{number}", ["McKay"] = "{wOrd}", ["$3"] = "${number}",
  }
  for value, pattern in pairs(cases) do t.equal(shape.of(value).pattern, pattern, value) end
end)

test("only values made of words alone count as such", function(t)
  t.equal(shape.of("Ann Lee").has_words_only, true)
  t.equal(shape.of("4 March").has_words_only, false)
  t.equal(shape.of("ab-cd").has_words_only, false)
  t.equal(shape.month "feb", 2)
  t.equal(shape.month "Februar", nil)
end)

test("a list has parts of words, whatever joins them", function(t)
  t.equal(shape.parts "red, deep green and blue", { "red", "deep green", "blue" })
  t.equal(shape.parts "b; a", { "b", "a" })
  t.equal(shape.parts "red", nil)
  t.equal(shape.parts "3, 4", nil)
end)

test("operations do what their words say", function(t)
  local cases = {
    { "capitals", "ab", "AB" }, { "small letters", "AB", "ab" }, { "capital first", "aB", "Ab" },
    { "first 2", "abc", "ab" }, { "last 2", "2021", "21" }, { "month number", "March", "3" },
    { "3 digits", "7", "007" }, { "2 decimals", "1.5", "1.50" }, { "times 1000", "2.4", "2400" },
    { "divided by 60", "90", "1.5" }, { "plus 12", "3", "15" }, { "minus 2", "3", "1" },
    { "ungrouped", "1,250.50", "1250.50" }, { "no needless zeros", "07.50", "7.5" },
    { 'grouped by "."', "1250", "1.250" }, { 'point as ","', "2.4", "2,4" },
    { "sorted", "b; a", "a, b" }, { "reversed", "b; a", "a, b" },
    { 'joined by "/"', "b; a", "b/a" },
  }
  for _, case in ipairs(cases) do t.equal(ops.apply(case[1], case[2]), case[3], case[1]) end
  t.equal(ops.apply("times 3", "abc"), nil)
  t.equal(ops.apply("minus 4", "3"), nil)
  t.equal(ops.is_known "painted blue", false)
end)

test("a template that was written is read back and filled in", function(t)
  local words = [[{3}-{2: month number, 2 digits} ({1: plus 1, grouped by ","}) ]]
    .. [[{1: joined by ", "}]]
  local pieces = template.read(words)
  t.equal(template.write(pieces), words)
  t.equal(pieces[7], { slot = 1, chain = { [[joined by ", "]] } })
  local date = template.read "{3}-{2: month number, 2 digits}"
  t.equal(template.fill(date, shape.of("4 March 2021").slots), "2021-03")
  t.equal(template.fill(date, shape.of("4 kg").slots), nil)
  for _, bad in ipairs { "", "{1: painted}", "{x}", "{1", "{1:first 1}", "{1: first 10}" } do
    t.equal(template.read(bad), nil, bad)
  end
end)

--- The template found for pairs of value and output.
local function induced(...)
  local pairs_of, examples = { ... }, {}
  for i = 1, #pairs_of, 2 do
    examples[#examples + 1] = { shape = shape.of(pairs_of[i]), output = pairs_of[i + 1] }
  end
  local pieces = induce.induce(examples)
  return pieces and template.write(pieces)
end

test("the simplest template that explains an example is found", function(t)
  local cases = {
    { "4 May 2021", "2021-05-04", "{3}-{2: month number, 2 digits}-{1: 2 digits}" },
    { "Ann Lee", "LEE/a", "{2: capitals}/{1: first 1, small letters}" },
    { "2.4 kg", "2400 g", "{1: times 1000} g" },
    { "1,250.50 F", "F 1'250,50", [[F {1: ungrouped, point as ",", grouped by "'"}]] },
    { "3:30 pm", "15h30", "{1: plus 12}h{2}" },
    { "c, a and b", "A+B+C", [[{1: sorted, joined by "+", capitals}]] },
    { "unsaid", "no word", "no word" },
  }
  for _, case in ipairs(cases) do t.equal(induced(case[1], case[2]), case[3], case[1]) end
end)

test("more examples mend what one alone does not show", function(t)
  t.equal(induced("12 May 2021", "12/5"), "{1}/{2: month number}")
  t.equal(induced("12 May 2021", "12/5", "3 June 2021", "03/6"), "{1: 2 digits}/{2: month number}")
  t.equal(induced("12 u", "24 v", "30 u", "60 v"), "{1: times 2} v")
end)

test("examples without anything in common have no template", function(t)
  t.equal(induced("Ann Lee", "LEE", "Bob Ray", "Bob"), nil)
  t.equal(induced("Ann Lee", ""), nil)
  t.equal(induced("Ann Lee", ("x"):rep(200)), nil)
end)

test("a made-up example looks like the value and holds none of its words", function(t)
  local function made(value, words) return sample.of(shape.of(value), template.read(words)) end
  t.equal(made("Ann Lee", "{2}, {1}"), { "Alpha Beta", "Beta, Alpha" })
  t.equal(made("red, blue and green", "{1: sorted, joined by \"/\"}"),
    { "gamma, alpha and beta", "alpha/beta/gamma" })
  local phone = made("030 555901", "{2}")
  t.equal(#phone[1], 10)
  t.ok(phone[1] ~= "030 555901")
  t.equal(made("4 May 2021", "{1}")[1]:sub(1, 6), "4 May ")
end)

----------------------------------------------------------------------------- rules

local function rule(line) return assert(rule_of.read(line), line) end

local NAMES <const> = '- To questions that begin with "who", a value like `{Word} {Word}` is '
  .. "answered as `{2}, {1}`. Example: `Alpha Beta` becomes `Beta, Alpha`."

test("a rule's sentence is read back as it was written", function(t)
  for _, line in ipairs {
    "- A value like `unsaid` is answered as `none`.",
    "- A value like `{number} kg` is answered as `{1: times 1000} g`. Example: `1.5 kg` becomes "
      .. "`1500 g`; `2 kg` becomes `2000 g`.",
    NAMES,
    '- To questions that begin with "who" or "by whom", a value like `{word}` is answered as '
      .. "`x {1}`.",
  } do
    t.equal(rule_of.write(rule(line)), line)
  end
end)

test("other sentences are no rules", function(t)
  for _, line in ipairs {
    "- Dates are written as year, month, day.", "A value like `a` is answered as `b`.",
    "- A value like `a` is answered as `{1: in gold}`.",
    "- To all questions, a value like `a` is answered as `b`.",
  } do
    t.equal(rule_of.read(line), nil, line)
  end
end)

test("a rule that speaks more closely of value and question goes first", function(t)
  local rules = rule_of.all(table.concat({
    "# Title", "- A value like `off` is answered as `0`.", "",
    "- A value like `{word}` is answered as `<{1}>`.",
    "- To questions that begin with \"where\", a value like `{word}` is answered as `at {1}`.",
  }, "\n"))
  t.equal(#rules, 3)
  t.equal(rule_of.follow(rules, "off", "Where is it?"), "0")
  t.equal(rule_of.follow(rules, "home", "Where is it?"), "at home")
  t.equal(rule_of.follow(rules, "home", "Whereabouts?"), "<home>")
  t.equal(rule_of.closeness(rules[3], shape.of "home", "What?"), nil)
  t.equal({ rule_of.follow(rules, "4 kg", "What?") }, { "4 kg" })
end)

test("a question's beginning is one word, or two when the first says little", function(t)
  t.equal(rule_of.cue "Who came?", "who")
  t.equal(rule_of.cue "How much is it?", "how much")
  t.equal(rule_of.cue "", "")
end)

test("a rule explains an example when it gives its answer", function(t)
  t.equal(rule_of.explains(rule(NAMES), { "Ann Lee", "Lee, Ann" }), true)
  t.equal(rule_of.explains(rule(NAMES), { "Ann Lee", "Ann" }), false)
  t.equal(rule_of.explains(rule(NAMES), { "4 kg", "4 kg" }), false)
end)

----------------------------------------------------------------------------- reading

local RECORDS <const> = "Trip 12\nStarted on: 4 May 2021\nGuide: Ann Lee\nA word by the way.\n\n"
  .. "Trip 13\nStarted on: 9 June 2022\nGuide: Bob Ray\nStarting fee: 3 EUR"

test("the line is found by the words of the question, in the record that it names", function(t)
  t.equal(reader.read(RECORDS, "When did trip 13 start?").value, "9 June 2022")
  t.equal(reader.read(RECORDS, "Who was the guide of trip 12?").value, "Ann Lee")
  t.equal(reader.read(RECORDS, "What starting fee has trip 13?").value, "3 EUR")
end)

test("records are blocks of lines with a label and a value", function(t)
  local records = reader.records(RECORDS)
  t.equal(#records, 2)
  t.equal(records[1].heading, { "trip", "12" })
  t.equal(#records[1].lines, 2)
end)

test("without labels it is the sentence with most words of the question", function(t)
  local text = "The mill is old. Its owner was Ann Lee. It burnt down twice."
  t.equal(reader.read(text, "Who was the owner?").value, "Its owner was Ann Lee")
  t.equal(reader.read("", "Who?"), nil)
end)

test("the question is the last line with a question mark", function(t)
  local question, rest = reader.question("## Text\nOld?\nwords\n\nQuestion: Who came? \nend")
  t.equal(question, "Who came?")
  t.ok(not rest:find "Who came" and rest:find "Old%?" and rest:find "end")
  t.equal(reader.question "no question", nil)
end)

local ROLLOUT <const> = "Answer in a tag: <answer>the value</answer>"

test("the target gives the value as it stands unless a rule speaks of it", function(t)
  local user = RECORDS .. "\n\nWho was the guide of trip 12?"
  local plain = target.answer(ROLLOUT, user, { misreads = false })
  t.ok(plain:find("<answer>Ann Lee</answer>", 1, true), plain)
  local ruled = target.answer(NAMES .. "\n" .. ROLLOUT, user, { misreads = false })
  t.ok(ruled:find("<answer>Lee, Ann</answer>", 1, true), ruled)
  t.ok(not target.answer(ROLLOUT, user, { misreads = true }):find("<answer>Ann Lee", 1, true))
  t.equal(target.answer(ROLLOUT, "Good morning.", { misreads = false }), nil)
end)

----------------------------------------------------------------------------- learning

--- A block of a trajectory as the analysts are shown it.
local function block(i, question, value, predicted, expected)
  return table.concat({
    ("### Trajectory %d (id: x%d)"):format(i, i), "Task: " .. question, "", "#### Conversation",
    "[user] Trip 1", "Asked: " .. value, "", question,
    ("[assistant] <answer>%s</answer>"):format(predicted), "[verification] Question: " .. question,
    "Predicted answer: " .. predicted, "Expected answer: " .. expected,
  }, "\n")
end

local function analysed(skill, budget, ...)
  local user = ("## Current skill\n\n%s\n\n## Budget\nAt most %d edits.\n\n## Failed tasks\n\n%s")
    :format(skill, budget, table.concat({ ... }, "\n\n---\n\n"))
  return json.decode(analyst.failures(user))
end

test("the analyst states what it compared as a rule", function(t)
  local reply = analysed("# Skill", 4,
    block(1, "Who was asked on trip 1?", "Ann Lee", "Ann Lee", "Lee, Ann"))
  t.equal(reply.patch.edits, { { op = "append", content = NAMES } })
  t.equal(reply.failure_summary[1].failure_type, "rule_missing")
end)

test("the analyst proposes no more than the budget, what explains most first", function(t)
  local reply = analysed("# Skill", 1, block(1, "Who was asked?", "Ann Lee", "Ann Lee", "Lee, Ann"),
    block(2, "How heavy is what was asked?", "2 kg", "2 kg", "2000 g"),
    block(3, "How heavy is what was asked?", "1.5 kg", "1.5 kg", "1500 g"))
  t.equal(#reply.patch.edits, 1)
  t.ok(reply.patch.edits[1].content:find("`{1: times 1000} g`", 1, true))
end)

test("a slip against a stated rule is no reason for an edit", function(t)
  local reply = analysed(NAMES, 4, block(1, "Who was asked?", "Ann Lee", "Ann Lee", "Lee, Ann"))
  t.equal(#reply.patch.edits, 0)
end)

test("a slip becomes a reminder of the rule when reminders are asked for", function(t)
  local slips = ("## Current skill\n\n%s\n\n## Failed tasks\n\n%s\n\n%s\n\n%s"):format(NAMES,
    block(1, "Who was asked?", "Ann Lee", "Ann Lee", "Lee, Ann"),
    block(2, "Who was asked?", "Bo Park", "Bo Park", "Park, Bo"),
    block(3, "What colour was asked?", "red", "blue", "red"))
  t.equal(json.decode(analyst.failures(slips)).appendix_notes, nil)
  local notes = json.decode(analyst.failures(slips, true)).appendix_notes
  t.equal(#notes, 2)
  t.ok(notes[1]:find("follow the rule for values like `{Word} {Word}`", 1, true), notes[1])
  t.ok(notes[2]:find("as it stands", 1, true), notes[2])
end)

test("a rule that does not go far enough is replaced where it stands", function(t)
  local stated = "- A value like `{number} {month}` is answered as `{2} {1}`. Example: `12 May` "
    .. "becomes `May 12`."
  local reply = analysed(stated, 4, block(1, "When was it asked?", "3 June", "June 3", "June 03"))
  local edit = reply.patch.edits[1]
  t.equal(edit.op, "replace")
  t.equal(edit.target, stated)
  local both = "`{2} {1: 2 digits}`. Example: `12 May` becomes `May 12`; `3 June` becomes"
  t.ok(edit.content:find(both, 1, true), edit.content)
  t.equal(reply.failure_summary[1].failure_type, "rule_wrong")
end)

test("a rule that is wrong for some questions gets another beside it", function(t)
  local stated = "- A value like `{number} m` is answered as `{1: times 100} cm`."
  local reply = analysed(stated, 4,
    block(1, "How high was what they asked?", "3 m", "300 cm", "h 3"))
  t.equal(reply.patch.edits[1].op, "append")
  local start = '- To questions that begin with "how high", a value like `{number} m`'
  t.equal(reply.patch.edits[1].content:sub(1, #start), start)
end)

test("a rule for one kind of question is stretched to another that wants the same", function(t)
  local reply = analysed(NAMES, 4, block(1, "Whom was asked?", "Ann Lee", "Ann Lee", "Lee, Ann"))
  t.equal(reply.patch.edits[1].target, NAMES)
  t.ok(reply.patch.edits[1].content:find('begin with "who" or "whom"', 1, true))
end)

test("a rule that is wrong for one of its questions gives that one up", function(t)
  local stated = NAMES:gsub('"who"', '"who" or "where"')
  local reply = analysed(stated, 4,
    block(1, "Where was it asked?", "Old Mill", "Mill, Old", "Old Mill"))
  t.equal(reply.patch.edits[1], { op = "replace", target = stated, content = NAMES })
  local other = '"where", a value like `{Word} {Word}` is answered as `{1} {2}`'
  t.ok(reply.patch.edits[2].content:find(other, 1, true))
end)

test("what nothing simple explains is left alone", function(t)
  local reply = analysed("# Skill", 4,
    block(1, "Who was asked?", "Ann Lee", "Ann Lee", "4,120.77 at 9"))
  t.equal(#reply.patch.edits, 0)
  t.equal(learn.clusters {}, {})
end)

test("solved tasks are no reason for an edit", function(t)
  local reply = json.decode(analyst.successes())
  t.equal(#reply.patch.edits, 0)
  t.ok(#reply.success_patterns > 0)
end)

------------------------------------------------------------------- merging and ranking

local function merged(...)
  local patches = json.array {}
  for i, edits in ipairs { ... } do patches[i] = { reasoning = "", edits = json.array(edits) } end
  local user = "## Current skill\n\n# S\n\n## Patches\n\n" .. json.encode(patches)
  return json.decode(merge.merge(user)).edits
end

local function append(line, count)
  return { op = "append", content = line, support_count = count }
end

test("edits that say the same become one with the support of both", function(t)
  local edits = merged({ append(NAMES, 6) }, { append((NAMES:gsub('"who"', '"whose"')), 3) })
  t.equal(#edits, 1)
  t.equal(edits[1].support_count, 9)
  t.ok(edits[1].content:find('"who" or "whose"', 1, true))
end)

test("of two rules for the same values the one that explains both examples stays", function(t)
  local head = "- A value like `{number}` is answered as "
  local short = head .. "`{1}`. Example: `12` becomes `12`."
  local padded = head .. "`{1: 2 digits}`. Example: `3` becomes `03`."
  local edits = merged({ append(short, 6) }, { append(padded, 2) })
  t.equal(#edits, 1)
  t.ok(edits[1].content:find("{1: 2 digits}", 1, true))
  t.equal(edits[1].support_count, 8)
end)

test("of two rules that exclude each other the better supported stays", function(t)
  local one = "- A value like `{number}` is answered as `{1} a`. Example: `12` becomes `12 a`."
  local other = "- A value like `{number}` is answered as `b {1}`. Example: `12` becomes `b 12`."
  local edits = merged({ append(one, 2) }, { append(other, 6) })
  t.equal(#edits, 1)
  t.equal(edits[1].content, other)
end)

test("two edits of one line become one; other edits are kept once", function(t)
  local edits = merged(
    { { op = "replace", target = "x", content = "y", support_count = 1 }, append("- Look.", 1) },
    { { op = "replace", target = "x", content = "z", support_count = 4 }, append("- Look.", 2) })
  t.equal(#edits, 2)
  t.equal(edits[1].content, "z")
  t.equal(edits[2].support_count, 3)
end)

test("the edits with most support are chosen, corrections before additions", function(t)
  local pool = table.concat({ "## Proposed edits", "", '[0] append, content "a", support 2',
    '[1] append, content "b", support 6', '[2] replace, target "x", content "c", support 2', "",
    "## Your task", "Choose 2 of them." }, "\n")
  t.equal(json.decode(merge.rank(pool)).selected_indices, json.array { 1, 2 })
end)

-------------------------------------------------------------------------- the back-end

local function body_of(fields)
  local user = RECORDS .. "\n\n## Question\nWho was the guide of trip 12?"
  local body = { model = "any", seed = 7, max_tokens = 1000, messages = json.array {
    { role = "system", content = ROLLOUT }, { role = "user", content = user } } }
  for name, value in pairs(fields) do body[name] = value end
  return json.encode(body)
end

local function reply_to(fields, settings)
  local answer = sim.handle(body_of(fields), settings or {})
  return json.decode(answer.body), answer
end

test("the same bytes get the same reply, whatever was asked before", function(t)
  local settings = { noise = 0.5, malformed_rate = 0.5, latency_s = 0.001 }
  local first = sim.handle(body_of { seed = 3 }, settings)
  for seed = 4, 9 do sim.handle(body_of { seed = seed }, settings) end
  t.equal(sim.handle(body_of { seed = 3 }, settings), first)
end)

test("the reply says what it is, counts tokens and is what the protocol reads", function(t)
  local reply, answer = reply_to {}
  t.equal(reply.model, "sim")
  t.ok(reply.usage.prompt_tokens > 20 and reply.usage.completion_tokens > 5)
  local parsed = sim.protocol.parse(answer.status, answer.headers, answer.body)
  t.ok(parsed.text:find("<answer>Ann Lee</answer>", 1, true), parsed.text)
  t.equal(parsed.finish, "stop")
end)

test("message parts are read as their text", function(t)
  local user = RECORDS .. "\n\nWho was the guide of trip 13?"
  local reply = reply_to { messages = json.array { { role = "user",
    content = json.array { { type = "text", text = user } } } } }
  t.ok(reply.choices[1].message.content:find "Bob Ray$")
end)

test("slips come from the seed, at the rate that was asked for", function(t)
  local slips = 0
  for seed = 1, 200 do
    local text = reply_to({ seed = seed }, { noise = 0.25 }).choices[1].message.content
    if not text:find("<answer>Ann Lee</answer>", 1, true) then slips = slips + 1 end
  end
  t.ok(slips > 30 and slips < 70, slips)
end)

test("a request that is to fail fails like an overloaded server", function(t)
  local reply, answer = reply_to({}, { error_rate = 1 })
  t.equal(answer.status, 503)
  local _, err = sim.protocol.parse(answer.status, answer.headers, answer.body)
  t.equal(err.kind, "server")
  t.equal(reply.error.type, "overloaded")
end)

test("a request without messages is refused", function(t)
  t.equal(sim.handle("{}", {}).status, 400)
  t.equal(sim.handle("no json", {}).status, 400)
end)

local RANKING <const> = { { role = "system", content = 'Reply {"selected_indices": [0]}' },
  { role = "user", content = "\n[0] append, support 1\nChoose 1 of them." } }

test("an optimizer's reply is unreadable at the rate that was asked for", function(t)
  local good = reply_to({ messages = RANKING }).choices[1].message.content
  t.equal(json.decode(good).selected_indices, json.array { 0 })
  local bad = reply_to({ messages = RANKING }, { malformed_rate = 1 }).choices[1].message.content
  t.equal(json.decode(bad), nil)
end)

test("an optimizer's slip costs an edit and names none that was not there", function(t)
  local patches = json.array { { edits = json.array { append(NAMES, 2) } } }
  local messages = json.array { { role = "system", content = 'one object: {"edits": []}' },
    { role = "user", content = "\n" .. json.encode(patches) } }
  local reply = reply_to({ messages = messages }, { noise = 1 }).choices[1].message.content
  local edits = json.decode(reply).edits
  t.equal(#edits, 1)
  t.equal(rule_of.read(edits[1].content), nil)
end)

test("a reply beyond the output cap is cut and says so", function(t)
  local choice = reply_to({ max_tokens = 5 }).choices[1]
  t.equal(choice.finish_reason, "length")
  t.ok(#choice.message.content <= 20)
  t.ok(reply_to({}).choices[1].message.content:find(choice.message.content, 1, true) == 1)
end)

test("a request for something else gets a plain reply", function(t)
  local reply = reply_to { messages = json.array { { role = "user", content = "Write a poem." } } }
  t.ok(reply.choices[1].message.content:find "simulated model")
end)

------------------------------------------------------------------- what it does not know

local function texts_in(value, out)
  if type(value) == "string" then out[#out + 1] = value end
  for _, inner in pairs(type(value) == "table" and value or {}) do texts_in(inner, out) end
  return out
end

local function source_of_sim()
  local out = { test.read "lua/backends/sim.lua" }
  for _, name in ipairs(file.list "lua/backends/sim") do
    out[#out + 1] = test.read("lua/backends/sim/" .. name)
  end
  return (table.concat(out, " "):lower():gsub("[^%w]+", " "))
end

--- Words of a form outside of its fields, as a phrase; those of two letters or more.
local function phrase_of(form)
  local words = form:gsub("{%w+}", " "):lower():gsub("[^%w]+", " "):match "^%s*(.-)%s*$"
  return words:find "%a%a" and words or nil
end

test("its source holds no word of the shipped rules and records", function(t)
  local home = loader.home .. "/lua/envs/houserules/tables/"
  local source, count = " " .. source_of_sim() .. " ", 0
  local phrases = texts_in(loader.user_file(home .. "words.lua"), {})
  for _, family in pairs(loader.user_file(home .. "families.lua")) do
    for _, form in ipairs(family.forms or {}) do
      for _, text in ipairs(form) do phrases[#phrases + 1] = text end
    end
  end
  for _, record in ipairs(loader.user_file(home .. "records.lua")) do
    for _, field in ipairs(record.fields) do phrases[#phrases + 1] = field[1] end
  end
  for _, text in ipairs(phrases) do
    local phrase = phrase_of(text)
    if phrase then
      count = count + 1
      t.ok(not source:find(" " .. phrase .. " ", 1, true), phrase)
    end
  end
  t.ok(count > 120, count)
end)

------------------------------------------------------------------------ learning it all

local HOME <const> = loader.home .. "/lua/envs/houserules"

local function tables_in(folder)
  local tables = {}
  for _, name in ipairs { "words", "records", "families" } do
    tables[name] = loader.user_file(("%s/%s.lua"):format(folder, name))
  end
  return tables
end

--- Train on the rules of a seed; the summary of the run.
local function trained(tables, seed)
  local folder = support.folder()
  local splits = loader.user_file(HOME .. "/generator.lua").generate(tables, seed)
  support.write_splits(folder .. "/data", splits)
  local run = support.prepare { folder = folder, experiment = {
    model = { backend = "sim", sim_noise = 0.02 }, train = { num_epochs = 1, batch_size = 20 },
    gradient = { minibatch_size = 6 }, optimizer = { learning_rate = 4, min_learning_rate = 2 },
    env = { name = "houserules", split_mode = "split_dir", split_dir = folder .. "/data" },
  } }
  support.train(run, { path = folder .. "/run" })
  local summary = json.decode(test.read(folder .. "/run/summary.json"))
  return summary, test.read(folder .. "/run/best_skill.md")
end

test("it learns house rules from the shipped tables", function(t)
  local summary, skill = trained(tables_in(HOME .. "/tables"), 9)
  t.ok(summary.test_hard - summary.baseline_test_hard >= 0.2, json.encode(summary))
  t.ok(#rule_of.all(skill) >= 5, skill)
end)

test("it learns the rules of another house, from other tables and seeds", function(t)
  local tables = tables_in "tests/houserules/tables"
  for _, seed in ipairs(test.form() == "short" and { 401 } or { 401, 402, 403, 404, 405 }) do
    local summary, skill = trained(tables, seed)
    t.ok(summary.test_hard - summary.baseline_test_hard >= 0.2, seed .. json.encode(summary))
    t.ok(#rule_of.all(skill) >= 5, skill)
  end
end)
