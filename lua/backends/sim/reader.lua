--- Reads with care and without knowledge: the record whose heading shares most words with
--- the question, in it the line whose label does; the value is what stands behind the label.
--- In a text without labels it is the sentence that shares most words.
local M = {}

--- Words of a text, in small letters.
local function words_of(s)
  local list = {}
  for word in s:lower():gmatch "[%w\128-\255]+" do list[#list + 1] = word end
  return list
end

-- Words that hold sentences together say little about what is meant.
local SMALL <const> = {}
for word in ([[a an and are at been by did do does for from had has have in is it its no
    not of on or that the their this to was were what when where which who whose with]])
  :gmatch "%a+" do
  SMALL[word] = true
end
local SMALL_WEIGHT <const>, STRANGER <const> = 0.05, 0.1

--- 1 for the same word, less for words with one stem.
local function likeness(a, b)
  if a == b then return 1 end
  local least = math.min(#a, #b)
  local same = 0
  while same < least and a:byte(same + 1) == b:byte(same + 1) do same = same + 1 end
  if same >= 4 and same >= 0.6 * math.max(#a, #b) then return 0.7 end
  return 0
end

local function best_likeness(word, list)
  local best = 0
  for _, other in ipairs(list) do best = math.max(best, likeness(word, other)) end
  return best
end

---@class sim.Record
---@field heading string[] its words
---@field lines {label: string, value: string, words: string[]}[]

--- The records of a text: a heading and lines with label and value.
---@param context string
---@return sim.Record[]
function M.records(context)
  local records = {}
  for block in (context .. "\n\n"):gmatch "(.-)\n%s*\n" do
    local record = { heading = {}, lines = {} }
    for line in block:gmatch "[^\n]+" do
      local label, value = line:match "^%s*[-*]?%s*([^:]-)%s*[:=]%s+(.-)%s*$"
      if label and value ~= "" then
        table.insert(record.lines, { label = label, value = value, words = words_of(label) })
      elseif #record.lines == 0 then
        table.move(words_of(line), 1, #words_of(line), #record.heading + 1, record.heading)
      end
    end
    if #record.lines > 0 then records[#records + 1] = record end
  end
  return records
end

--- How much each text of a list has in common with the question; words that few of the
--- texts hold count most.
local function overlaps(question, texts)
  local sums = {}
  for i = 1, #texts do sums[i] = 0 end
  for _, word in ipairs(question) do
    local found, total = {}, 0
    for i, list in ipairs(texts) do
      found[i] = best_likeness(word, list)
      total = total + found[i]
    end
    for i in ipairs(texts) do
      local weight = SMALL[word] and SMALL_WEIGHT or 1
      if total > 0 then sums[i] = sums[i] + weight * found[i] * found[i] / total end
    end
  end
  return sums
end

--- Take a little off for each word of a label that the question does not have.
local function without_strangers(sums, question, texts)
  for i, list in ipairs(texts) do
    for _, word in ipairs(list) do
      local is_strange = not SMALL[word] and best_likeness(word, question) == 0
      if is_strange then sums[i] = sums[i] - STRANGER end
    end
  end
  return sums
end

local function largest(sums)
  local best = 1
  for i, sum in ipairs(sums) do
    if sum > sums[best] then best = i end
  end
  return best
end

--- The question without the words of the heading.
local function rest_of(question, heading)
  local rest = {}
  for _, word in ipairs(question) do
    if best_likeness(word, heading) < 1 then rest[#rest + 1] = word end
  end
  return rest
end

--- The question of a text, its last line that ends with "?", and the text around it.
---@param content string
---@return string? question
---@return string rest
function M.question(content)
  local question, first, last
  for from, line, to in ("\n" .. content .. "\n"):gmatch "\n()([^\n]*)()%f[\n]" do
    if line:find "%?%s*$" then question, first, last = line, from, to end
  end
  if not question then return nil, content end
  local rest = content:sub(1, first - 2) .. "\n" .. content:sub(last - 1)
  return (question:gsub("^%s*[Qq]uestion:%s*", ""):gsub("%s+$", "")), rest
end

---@class sim.Reading
---@field label string
---@field value string
---@field other string value of the line that fits second best, or the same

--- The sentence with most in common; nil when there is none.
local function read_sentences(context, asked)
  local sentences, words = {}, {}
  for sentence in context:gmatch "[^.!?\n]+" do
    sentence = sentence:match "^%s*(.-)%s*$"
    if #words_of(sentence) > 2 and sentence:find "^[^#]" then
      sentences[#sentences + 1] = sentence
      words[#words + 1] = words_of(sentence)
    end
  end
  if #sentences == 0 then return nil end
  local sums = overlaps(asked, words)
  local at = largest(sums)
  if sums[at] == 0 then return nil end
  sums[at] = -1
  return { label = "text", value = sentences[at], other = sentences[largest(sums)] }
end

--- Where the answer stands; nil when nothing in the text speaks of the question.
---@param context string
---@param question string
---@return sim.Reading?
function M.read(context, question)
  local records, asked = M.records(context), words_of(question)
  if #records == 0 then return read_sentences(context, asked) end
  local headings, labels = {}, {}
  for i, record in ipairs(records) do headings[i] = record.heading end
  local record = records[largest(overlaps(asked, headings))]
  for i, line in ipairs(record.lines) do labels[i] = line.words end
  local sums = without_strangers(overlaps(rest_of(asked, record.heading), labels), asked, labels)
  local at = largest(sums)
  local line = record.lines[at]
  sums[at] = -1
  local second = record.lines[largest(sums)]
  return { label = line.label, value = line.value, other = second.value }
end

return M
