--- Conversations as text for an optimizer.
local test = require "skillopt.test"
local trajectory = require "skillopt.trajectory"
local json = require "rt.json"
local text = require "rt.text"
local vectors = test.support "tests/lua/vectors.lua"

local function has(t, s, piece)
  t.ok(s:find(piece, 1, true), ("%q is not in %q"):format(piece, s))
end

local function has_not(t, s, piece)
  t.ok(not s:find(piece, 1, true), ("%q is in %q"):format(piece, s))
end

local function said(content) return { { role = "assistant", content = content } } end

local function block(row, conversation, position)
  return {
    position = position or 1, id = row.id or "a", row = row,
    conversation = conversation or said "ans",
  }
end

--- Cases of core_trajectory that differ on purpose, with our value: tables and truth
--- values are shown as JSON shows them, a list of texts as message parts, a role that
--- is null as one that is missing.
local OURS <const> = {
  [16] = "[agent] ",
  [19] = "[agent] list\nx",
  [20] = '[agent] {"k": 1}',
  [22] = "[agent] true",
}

test("lines equal core_trajectory", function(t)
  local book = vectors.book("core_trajectory.json", "lines")
  for i, case in ipairs(book.cases) do
    if case.fn == "trajectory" then
      t.equal(trajectory.lines(case["in"]), OURS[i] or case.out.reflect, i)
      book:note(i, OURS[i] and "what is no text is shown as JSON shows it")
    end
  end
  book:check(t)
end)

local HEADINGS <const> = {
  hidden_reference = "#### Reference (hidden from the target)\n%s",
  target_system_prompt = "### System prompt of the target (the same in all of these)\n%s",
  target_user_prompt = "#### User prompt\n%s",
  codex_trace_summary = "#### Trace summary\n%s",
  codex_trace_steps = "#### Trace steps\n%s",
  spreadsheet_preview = "#### Spreadsheet preview\n%s",
}

--- What the block of a core_trajectory case must hold, piece by piece.
local function pieces_of(want)
  local out = {
    ("### Trajectory %d (id: %s)"):format(want.position, want.id), "Task: " .. want.task,
    "Type: " .. want.task_type, "Steps: " .. want.steps,
      "#### Conversation\n" .. want.trajectory,
  }
  if want.fail_reason ~= json.null then
    out[#out + 1] = "Failure reason: " .. want.fail_reason
  end
  for _, section in ipairs(want.sections) do
    out[#out + 1] = HEADINGS[section[1]]:format(section[2])
  end
  return out
end

--- The blocks that `Evaluation:render` would hand over for a case.
local function blocks_of(input)
  local out = {}
  for i, row in ipairs(input.items) do
    local id = tostring(row.id)
    local conversation = input.files[id .. "/conversation.json"]
    if type(conversation) == "table" and #conversation > 0 then
      local own = { id = id }
      for field, value in pairs(row) do own[field] = value end
      out[#out + 1] = block(own, conversation, i)
    end
  end
  return out
end

--- Cases that differ on purpose: texts come from the row only, never from files beside
--- the conversation (34, 35); an item without an id cannot exist (40); a conversation
--- that is no list, or cannot be read, is none (41, 42).
local OTHER_BLOCKS <const> = { [34] = 1, [35] = 1, [40] = 0, [41] = 0, [42] = 0 }

test("blocks hold what core_trajectory says", function(t)
  local book = vectors.book("core_trajectory.json", "blocks")
  for i, case in ipairs(book.cases) do
    if case.fn == "minibatch_blocks" then
      local blocks = blocks_of(case["in"])
      local rendered = trajectory.render(blocks)
      if OTHER_BLOCKS[i] then
        t.equal(#blocks, OTHER_BLOCKS[i], i)
        for _, content in pairs(case["in"].files) do
          if type(content) == "string" then has_not(t, rendered, content) end
        end
      else
        t.equal(#blocks, #case.out, i)
        for _, want in ipairs(case.out) do
          for _, piece in ipairs(pieces_of(want)) do has(t, rendered, piece) end
        end
      end
      book:note(i, OTHER_BLOCKS[i] and "texts come from the row, conversations are lists")
    end
  end
  book:check(t)
end)

test("nothing to show is an empty text", function(t)
  t.equal(trajectory.render {}, "")
end)

test("a shared system prompt is said once, without the skill in it", function(t)
  local prompt = "You answer questions.\n\n# Skill\n- be brief\n\nBegin."
  local blocks = {
    block({ id = "a", target_system_prompt = prompt }),
    block({ id = "b", target_system_prompt = prompt }, said "other", 2),
  }
  local rendered =
    trajectory.render(blocks, { skill = { text = "# Skill\n- be brief\n" } })
  t.equal(select(2, rendered:gsub("You answer questions", "")), 1)
  has(t, rendered,
    "You answer questions.\n\n[the current skill document stands here]\n\nBegin.")
  has_not(t, rendered, "be brief")
end)

test("a system prompt of its own stays with its item", function(t)
  local rendered = trajectory.render {
    block { id = "a", target_system_prompt = "common" },
    block({ id = "b", target_system_prompt = "special" }, nil, 2),
  }
  has(t, rendered, "(the same in all of these)\ncommon")
  has(t, rendered, "#### System prompt\nspecial")
end)

test("a first system message is the system prompt, a later one feedback", function(t)
  local rendered = trajectory.render { block({}, {
    { role = "system", content = "SYS" }, { role = "user", content = "Q" },
    { role = "assistant", content = "A" }, { role = "system", content = "EM=0" },
  }) }
  has(t, rendered, "(the same in all of these)\nSYS")
  has(t, rendered, "#### Conversation\n[user] Q\n[assistant] A\n[verification] EM=0")
end)

test("a user prompt that begins the conversation is not said twice", function(t)
  local row = { target_user_prompt = "Q?" }
  local rendered = trajectory.render { block(row, {
    { role = "user", content = "Q?" }, { role = "assistant", content = "A" },
  }) }
  t.equal(select(2, rendered:gsub("Q%?", "")), 1)
  has(t, trajectory.render { block(row) }, "#### User prompt\nQ?")
end)

test("tool calls and images are lines of their own", function(t)
  t.equal(trajectory.lines {
    { role = "user",
      content = { { text = "see" }, { image = "\1", type = "image/png" } } },
    { role = "assistant", content = "",
      tool_calls = { { name = "f", arguments = { x = 1 } } } },
    { role = "assistant", content = "hm", tool_calls = {
      { ["function"] = { name = "g", arguments = '{"y": 2}' } },
    } },
    { role = "tool", content = "42" },
  },
    '[user] see\n[image image/png]\n[action] f {"x": 1}\n[assistant] hm\n'
      .. '[action] g {"y": 2}\n[tool] 42')
end)

test("what the row hides is masked wherever it is quoted", function(t)
  local case = json.decode(test.read "tests/cases/c16_judge_leak.json")
  local pattern = case.check.pattern
  local row = {
    hidden = pattern, check = case.check,
    fail_reason = case.check.description,
      task_description = "quoted: " .. pattern .. " end",
  }
  local rendered =
    trajectory.render { block(row, said("half of it: " .. pattern:sub(3, 20) .. ".")) }
  has(t, rendered, "The reply routes the ticket to the billing team.")
  has(t, rendered, "quoted: [hidden] end")
  for i = 1, #pattern - 11 do has_not(t, rendered, pattern:sub(i, i + 11)) end
end)

test("masking takes whole characters and leaves what is too short", function(t)
  local hidden = "ответ: сорок два"
  local masked = trajectory.mask("до " .. hidden .. " после", { hidden })
  t.equal(masked, "до [hidden] после")
  -- U+047E ends in the byte with which the first character of the hidden text ends.
  t.equal(trajectory.mask("x\u{47E}" .. hidden:sub(3) .. "y", { hidden }), "x[hidden]y")
  t.equal(trajectory.mask("yes, yes", { "yes" }), "yes, yes")
  t.equal(trajectory.mask("the word sesame!", { "sesame" }), "the word [hidden]!")
end)

test("hidden texts are a text or a list of texts", function(t)
  t.equal(trajectory.hidden { hidden = "a" }, { "a" })
  t.equal(trajectory.hidden { hidden = { "a", 3, "b" } }, { "a", "b" })
  t.equal(trajectory.hidden {}, {})
end)

test("long trajectories are cut in the middle, short ones stay whole", function(t)
  local long = "first words " .. ("x "):rep(20000) .. "last words"
  local blocks = { block({ id = "a" }, said(long)), block({ id = "b" }, said "short", 2),
    block({ id = "c" }, said(long), 3) }
  local rendered = trajectory.render(blocks, { max_tokens = 2000 })
  t.ok(text.tokens(rendered) <= 2000, text.tokens(rendered))
  t.ok(text.tokens(rendered) > 1800, text.tokens(rendered))
  has(t, rendered, "first words")
  has(t, rendered, "last words")
  has(t, rendered, "[... middle of this trajectory cut to fit ...]")
  has(t, rendered, "[assistant] short")
end)

test("a long shared prompt takes at most a quarter of the room", function(t)
  local row = { target_system_prompt = ("rule "):rep(5000) }
  local rendered =
    trajectory.render({ block(row, said "the answer") }, { max_tokens = 1000 })
  t.ok(text.tokens(rendered) <= 1000)
  has(t, rendered, "[... middle of the prompt cut to fit ...]")
  has(t, rendered, "the answer")
end)

test("a limit that is met changes nothing", function(t)
  local blocks = { block { id = "a" }, block({ id = "b" }, nil, 2) }
  t.equal((trajectory.render(blocks, { max_tokens = 1000 })), (trajectory.render(blocks)))
end)

test("a shared prompt of most of the room stays whole when all fits", function(t)
  local blocks = { block({ target_system_prompt = ("rule "):rep(600) }, said "the answer") }
  local rendered, facts = trajectory.render(blocks, { max_tokens = 1000, max_each = 900 })
  t.equal({ rendered, facts.cut }, { (trajectory.render(blocks)), {} })
end)

test("one trajectory has a limit of its own", function(t)
  local blocks = { block({ id = "a" }, said(("word "):rep(1000))),
    block({ id = "b" }, said "short") }
  local rendered, facts = trajectory.render(blocks, { max_each = 100 })
  t.ok(text.tokens(rendered) < 200, text.tokens(rendered))
  has(t, rendered, "[... middle of this trajectory cut to fit ...]")
  t.equal({ #facts.cut, facts.cut[1].id, facts.ids }, { 1, "a", { "a", "b" } })
  t.ok(facts.cut[1].characters > 4000)
end)

test("the facts of a rendering tell its size and what was cut", function(t)
  local row = { target_system_prompt = ("rule "):rep(400) }
  local blocks = { block(row, said(("word "):rep(1000))), block(row, said "short", 2) }
  local rendered, facts = trajectory.render(blocks)
  local sum = facts.shared + facts.blocks[1].tokens + facts.blocks[2].tokens
  t.ok(sum >= text.tokens(rendered) and sum <= text.tokens(rendered) + 8, sum)
  local _, cut = trajectory.render(blocks, { max_tokens = 800 })
  t.equal({ cut.cut[1].id, cut.cut[2].id }, { "system prompt", "a" })
end)
