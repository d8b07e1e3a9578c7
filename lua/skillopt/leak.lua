--- Does new text of a skill give away what belongs to single tasks? One guard for every way
--- text gets into a skill: edits, documents written anew, guidance, notes.
---
--- A text leaks when it holds, and the skill before did not,
---   id      an item's id, as whole words in its own spelling. Ids that may be everyday
---           words do not count: shorter than 4 bytes, letters alone, fewer than 6 digits.
---   answer  an accepted answer, as whole words in any case: a skill that knows it is graded
---           on memory. Of a long one the first 12 words count. Short ones (fewer than 5
---           letters or digits; a Chinese character counts as two) are what many tasks
---           answer and rules have to name: "yes", "42", "none"; so are single words of
---           fewer than 10 small letters: "evidence", "itself".
---   judge   a piece of what only a judge reads, 12 bytes or more: a skill that knows it is
---           written for the judge. A piece of letters and blanks is prose and counts from
---           32 bytes. What the tasks themselves show does not count.
--- An id or answer is common, and no leak, when more than two other items, and more than
--- 1 % of them, have it in their question or answers: such a word says nothing about one
--- item (a unit, a format, a category). Without the two a small set would call common what
--- a single neighbour shares.
---
--- The index is made when it is first asked, once: looking for 100,000 items in a text takes
--- about as long as looking for ten.
local json = require "rt.json"
local loader = require "skillopt.loader"
local text_of = require "rt.text"
local trajectory = require "skillopt.trajectory"

local M = {}

--- The word for what is refused, wherever that happens.
M.FATE = "leak"

local SPLITS <const> = { "train", "val", "test" }
--- Fields that hold the answers of environments that do not say which.
local ANSWERS <const> = { "answers", "answer", "expected", "expected_answer", "gold",
  "gold_answers", "ground_truth", "reference_answer", "solution" }
--- Fields that hold the question.
local QUESTIONS <const> = { "question", "task_description", "instruction" }

local LEAST_ANSWER <const>, LEAST_WORD <const>, LONGEST_ANSWER <const> = 5, 10, 12
local LEAST_ID <const>, LEAST_DIGITS <const> = 4, 6
local COMMON_ITEMS <const>, COMMON_SHARE <const> = 2, 0.01
local PIECE <const>, PROSE <const>, LEAST_PIECE <const> = 12, 32, 6
--- Any 12 bytes of a hidden text hold 8 that begin at one of its every 5th bytes.
local BLOCK <const>, STRIDE <const> = 8, 5
--- Places that are kept of a block that many hidden texts share.
local PLACES <const> = 64
--- Bits of a place that tell the byte; the others tell the text.
local PLACE_BITS <const> = 32
local SHOWN <const> = 80

--------------------------------------------------------------------------- words

--- A text as words with single blanks between and around them, case folded; signs are
--- blanks, each Chinese or Japanese character is a word. `\0` stays, between texts.
local function words_of(s)
  s = text_of.casefold(s):gsub("[^%w\128-\255\0]+", " ")
  if s:find "[\128-\255]" then
    s = s:gsub("\226[\128-\130][\128-\191]", " "):gsub("\227\128[\128-\191]", " ")
      :gsub("\239\188[\129-\143\154-\160]", " ")
      :gsub("[\227-\233][\128-\191][\128-\191]", " %0 ")
  end
  if s:find("\0", 1, true) then s = s:gsub("\0", " \0 ") end
  return ((" " .. s .. " "):gsub("  +", " "))
end

--- Has a key so many letters or digits? Those of scripts without blanks count twice.
local function is_heavy(words, least)
  local n = #words
  if words:find "[\128-\255]" then
    local _, wide = words:gsub("[\227-\233][\128-\191][\128-\191]", "")
    n = text_of.length(words) + wide
  end
  if n >= 2 * least then return true end -- half of it at most is blanks
  local _, blanks = words:gsub(" ", "")
  return n - blanks >= least
end

--- The first words of a key, at most so many, how many, and the first one.
local function clipped(words, most)
  local blank = words:find(" ", 1, true)
  if not blank then return words, 1, words end
  local n, first = 1, words:sub(1, blank - 1)
  while blank and n < most do
    n, blank = n + 1, words:find(" ", blank + 1, true)
  end
  return blank and words:sub(1, blank - 1) or words, n, first
end

----------------------------------------------------------------------- of an item

--- Texts and numbers of a value, however deep.
local function texts_of(value, out)
  local kind = type(value)
  if kind == "string" then out[#out + 1] = value
  elseif kind == "number" then out[#out + 1] = json.format_number(value)
  elseif kind == "table" and #value > 0 then
    for i = 1, #value do texts_of(value[i], out) end
  elseif kind == "table" and value ~= json.null then
    for _, one in pairs(value) do texts_of(one, out) end
  end
  return out
end

--- The field at a path like `check.pattern`, and what it stands in.
local function at_path(item, path)
  if item[path] ~= nil then return item[path], item end
  if not path:find(".", 1, true) then return nil end
  local value, holder = item, nil
  for name in path:gmatch "[^.]+" do
    if type(value) ~= "table" then return nil end
    holder, value = value, value[name]
  end
  return value, holder
end

--- What only the judge of an item reads, by what its environment declares.
---@param env {hidden: (string[]|function)?}
---@param item table
---@param opt table? options of the environment
---@return string[]
function M.hidden(env, item, opt)
  if type(env.hidden) == "function" then
    return texts_of(env.hidden(item, opt or {}) or json.null, {})
  end
  local out = {}
  for _, path in ipairs(env.hidden or {}) do texts_of(at_path(item, path), out) end
  return out
end

--- The same for a row of results, nil when there is nothing.
---@param env {hidden: (string[]|function)?}
---@param item table
---@param opt table? of the environment
---@return string[]?
function M.row_hidden(env, item, opt)
  if not env.hidden then return nil end
  local out = M.hidden(env, item, opt)
  return #out > 0 and json.array(out) or nil
end

--- What is wrong with an item whose judge is described in its own words, or nil: the
--- description beside a hidden field is shown to the optimizer.
---@param env {hidden: (string[]|function)?}
---@param item table
---@return string?
function M.description_fault(env, item)
  local hidden = type(env.hidden) == "table" and env.hidden or {}
  for _, path in ipairs(hidden) do
    local value, holder = at_path(item, path)
    local words = holder and holder.description
    if type(words) == "string" and trajectory.mask(words, texts_of(value, {})) ~= words then
      return ("the description beside '%s' quotes it"):format(path)
    end
  end
end

--- The judge's files that an environment names, read from its folder.
---@param env {judge: string[]?}
---@param folder string
---@return string[] texts
function M.judge_texts(env, folder)
  local out = {}
  for i, name in ipairs(env.judge or {}) do
    local path = folder .. "/" .. name
    local text, err = loader.read(path)
    if not text then
      error({ kind = "config", message = err.message,
        hint = "skillopt.env: `judge` names files of the environment's folder" }, 0)
    end
    loader.add_source(path, text)
    out[i] = text
  end
  return out
end

--------------------------------------------------------------------------- index

local Guard = {}
Guard.__index = Guard

---@class skillopt.Finding
---@field kind "id"|"answer"|"judge"
---@field item string? id of the item it belongs to
---@field text string the words that leak, their beginning

---@class skillopt.Guard

--- A guard for the items of a run.
---@param options {data: table<string, table[]>, env: table, opt: table?, judge: string[]?}
---@return skillopt.Guard
function M.new(options)
  local judge = options.judge or {}
  return setmetatable({ data = options.data, env = options.env, opt = options.opt,
    known = {}, texts = {}, blocks = {}, short = {},
    waiting = table.move(judge, 1, #judge, 1, {}) }, Guard)
end

--- All items, one after the other: where they are kept as bytes, one is decoded at a time.
local function each_item(guard)
  local s, i = 1, 0
  return function()
    while SPLITS[s] do
      local list = guard.data[SPLITS[s]] or {}
      i = i + 1
      if i <= #list then return list[i] end
      s, i = s + 1, 0
    end
  end
end

local function answers_of(guard, item)
  local out = {}
  local fields = guard.env.answers or ANSWERS
  for i = 1, #fields do
    local field = fields[i]
    if item[field] ~= nil or guard.env.answers then texts_of(at_path(item, field), out) end
  end
  return out
end

local function questions_of(item)
  local out = {}
  for _, field in ipairs(QUESTIONS) do
    if type(item[field]) == "string" then out[#out + 1] = item[field] end
  end
  return out
end

local function is_telling_id(id)
  if #id < LEAST_ID or not id:find "[%w\128-\255]" then return false end
  if id:find "^%d+$" then return #id >= LEAST_DIGITS end
  return not id:find "^%a+$"
end

--- Enter words under which a text is found, with what it belongs to.
local function enter(guard, list, words, owner)
  local key, n, first = clipped(words, LONGEST_ANSWER)
  if list[key] then return end
  list[key] = owner
  if n > (guard.longest[first] or 0) then guard.longest[first] = n end
end

--- Enter the texts of `list` (text, owner), whose words are made in one go.
local function enter_all(guard, into, list, is_telling)
  local raw = {}
  for i, entry in ipairs(list) do raw[i] = entry[1] end
  local i = 0
  for words in (words_of(table.concat(raw, "\0")) .. "\0"):gmatch "([^\0]*)\0" do
    i = i + 1
    words = words:sub(2, -2)
    if list[i] and words ~= "" and is_telling(words, list[i][1]) then
      enter(guard, into, words, list[i][2])
    end
  end
end

local function always() return true end

local function is_telling_answer(words, raw)
  local is_word = raw:find "^%l+$" and #raw < LEAST_WORD
  return not is_word and is_heavy(words, LEAST_ANSWER)
end

--- Texts a field holds, without the byte that stands between them.
local function add(list, s, owner)
  list[#list + 1] = { s:find("\0", 1, true) and s:gsub("\0", " ") or s, owner }
end

local function build(guard)
  local ids, answers = {}, {}
  guard.longest, guard.ids, guard.answers, guard.n_items = {}, {}, {}, 0
  for item in each_item(guard) do
    guard.n_items = guard.n_items + 1
    if is_telling_id(item.id) then add(ids, item.id, item.id) end
    for _, answer in ipairs(answers_of(guard, item)) do add(answers, answer, item.id) end
    if guard.env.hidden then
      for _, hidden in ipairs(M.hidden(guard.env, item, guard.opt)) do
        guard.waiting[#guard.waiting + 1] = hidden
      end
    end
  end
  enter_all(guard, guard.ids, ids, always)
  enter_all(guard, guard.answers, answers, is_telling_answer)
end

--- Questions and answers of all items, as they are and as words, one item a line of `\0`.
local function corpus(guard)
  if guard.corpus then return guard.corpus, guard.shown end
  local all, shown = {}, {}
  for item in each_item(guard) do
    local i = #all + 1
    local question = table.concat(questions_of(item), " ")
    local answers = table.concat(answers_of(guard, item), " ; ")
    shown[i] = question
    all[i] = question .. " ; " .. answers
    if all[i]:find("\0", 1, true) then all[i] = all[i]:gsub("\0", " ") end
  end
  guard.corpus, guard.shown = words_of(table.concat(all, "\0")), table.concat(shown, "\n")
  return guard.corpus, guard.shown
end

--- Is a key in the questions or answers of many items?
local function is_common(guard, key)
  local all, n, at = corpus(guard), 0, 1
  local needle, most = " " .. key .. " ", guard.n_items * COMMON_SHARE
  most = math.max(COMMON_ITEMS, most) + 1 -- one of them is the item itself
  while at do
    at = all:find(needle, at, true)
    if at then
      n = n + 1
      if n > most then return true end
      at = all:find("\0", at, true)
    end
  end
  return false
end

------------------------------------------------------------------- ids and answers

--- Look up every run of words that an entry could have, longer ones first; one that is a
--- find is not looked into again.
local function each_run(guard, text, look)
  local list, at = {}, 1
  for word in words_of(text):gmatch "%S+" do list[#list + 1] = word end
  while at <= #list do
    local most, after = math.min(guard.longest[list[at]] or 0, #list - at + 1), at + 1
    for n = most, 1, -1 do
      if look(table.concat(list, " ", at, at + n - 1)) then
        after = at + n
        break
      end
    end
    at = after
  end
end

local function runs(guard, text, before, found)
  local old, seen = words_of(before), {}
  each_run(guard, text, function(key)
    local id, item = guard.ids[key], guard.answers[key]
    local is_id = id and text:find(id, 1, true) and not before:find(id, 1, true)
    if not is_id and not item or old:find(" " .. key .. " ", 1, true) then return false end
    if seen[key] ~= nil then return seen[key] end
    seen[key] = not is_common(guard, key)
    if not seen[key] then return false end
    found[#found + 1] = { kind = is_id and "id" or "answer", item = is_id and id or item,
      text = is_id and id or text_of.sub(key, 1, SHOWN) }
    return true
  end)
end

--------------------------------------------------------------------- judges' texts

--- Take a hidden text into the index of blocks: where each is found, as one number (which
--- text, and which byte of it) or, where there are several, a list of such.
local function take(guard, hidden)
  if guard.known[hidden] or #hidden < LEAST_PIECE then return end
  guard.known[hidden] = true
  if #hidden < PIECE then
    guard.short[#guard.short + 1] = hidden
    return
  end
  local texts, blocks, unpack = guard.texts, guard.blocks, string.unpack
  texts[#texts + 1] = hidden
  for at = 1, #hidden - BLOCK + 1, STRIDE do
    local block = unpack("<i8", hidden, at)
    local place, places = #texts << PLACE_BITS | at, blocks[block]
    if not places then
      blocks[block] = place
    elseif type(places) ~= "table" then
      blocks[block] = { places, place }
    elseif #places < PLACES then
      places[#places + 1] = place
    end
  end
end

--- The texts that rows of results list as hidden are guarded from here on.
---@param rows table[]
function Guard:see(rows)
  for _, row in ipairs(rows) do
    for _, hidden in ipairs(trajectory.hidden(row)) do
      self.waiting[#self.waiting + 1] = hidden
    end
  end
end

--- The stretch that two texts share around these places.
local function stretch(text, at, hidden, from)
  local first, last, back = at, at + BLOCK - 1, from
  local ahead = from + BLOCK - 1
  while first > 1 and back > 1 and text:byte(first - 1) == hidden:byte(back - 1) do
    first, back = first - 1, back - 1
  end
  while last < #text and ahead < #hidden
    and text:byte(last + 1) == hidden:byte(ahead + 1) do
    last, ahead = last + 1, ahead + 1
  end
  return first, last
end

--- Has a shared stretch a piece that is the judge's own: not in the skill before, not in
--- what tasks show, not everyday prose?
local function is_own(guard, piece, before)
  local is_long = #piece >= PROSE
  local _, shown = corpus(guard)
  if before:find(piece, 1, true) or shown:find(piece, 1, true) then return false end
  for at = 1, #piece - PIECE + 1 do
    local window = piece:sub(at, at + PIECE - 1)
    local is_told = before:find(window, 1, true) or shown:find(window, 1, true)
    if not is_told and (is_long or window:find "[^%a%s\128-\255]") then return true end
  end
  return false
end

local function judged(piece)
  return { kind = "judge", text = text_of.sub(text_of.strip(text_of.fix(piece)), 1, SHOWN) }
end

local function short_pieces(guard, text, before, found)
  local _, shown = corpus(guard)
  for _, hidden in ipairs(guard.short) do
    local first, last = text:find(hidden, 1, true)
    local is_whole = first and not text:sub(first - 1, first - 1):find "[%w\128-\255]"
      and not text:sub(last + 1, last + 1):find "[%w\128-\255]"
    if is_whole and not before:find(hidden, 1, true) and not shown:find(hidden, 1, true) then
      found[#found + 1] = judged(hidden)
    end
  end
end

--- The last byte of a leaking stretch that begins around `at`, or nil.
local function piece_at(guard, text, at, before)
  local places = guard.blocks[string.unpack("<i8", text, at)]
  if places and type(places) ~= "table" then places = { places } end
  for _, place in ipairs(places or {}) do
    local hidden, from = guard.texts[place >> PLACE_BITS], place & (1 << PLACE_BITS) - 1
    local first, last = stretch(text, at, hidden, from)
    local piece = text:sub(first, last)
    if last - first + 1 >= PIECE and is_own(guard, piece, before) then
      return last, piece
    end
  end
end

local function pieces(guard, text, before, found)
  for _, hidden in ipairs(guard.waiting) do take(guard, hidden) end
  guard.waiting = {}
  if #guard.short > 0 then short_pieces(guard, text, before, found) end
  if not next(guard.blocks) then return end
  local at = 1
  while at <= #text - BLOCK + 1 do
    local last, piece = piece_at(guard, text, at, before)
    if last then found[#found + 1] = judged(piece) end
    at = last and last + 1 or at + 1
  end
end

--- What `text` gives away that `before` did not; in the order of the text, judges' last.
---@param text string
---@param before string the skill it goes into
---@return skillopt.Finding[]
function Guard:find(text, before)
  if text == before then return json.array {} end
  if not self.ids then build(self) end
  local found = json.array {}
  runs(self, text, before, found)
  pieces(self, text, before, found)
  return found
end

local WORDS <const> = { id = "names the item %s%s", answer = "gives the answer %q of item %s",
  judge = "quotes what a judge reads: %q%s" }

--- The reason that a finding is, for records and for the one who wrote the text. The words
--- start with the fate.
---@param finding skillopt.Finding
---@return string
function M.words(finding)
  local first, second = finding.text, finding.kind == "answer" and finding.item or ""
  return M.FATE .. ": " .. WORDS[finding.kind]:format(first, second)
end

return M
