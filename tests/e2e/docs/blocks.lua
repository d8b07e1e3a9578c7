--- The fenced blocks of a page, for docs.sh.
---
---   plan PAGE FOLDER     writes each block to run as FOLDER/NN.sh (of a console block also
---                        what it shows, NN.shown) and each block that is a file to
---                        FOLDER/files/NN; prints what to do, one line a block in order:
---                        kind, number, line, option and its value, behind tabs
---   compare SHOWN GOT    is the transcript the one that is shown?
---
--- A block of sh is run. One of console shows commands behind `$ ` and what they print; a
--- line `...` stands for any number of lines, ` ...` at the end of a line for the rest of
--- it. A block of another language is a file when its first line is a comment that starts
--- with its name. Before a block an HTML comment may say `not run: why`, `long: why`, `stub:
--- SCRIPT` (the model server is tests/stub/scripts/SCRIPT.lua), `exit: CODE` or `file: NAME`.
local file = require "rt.file"
local stdout = require "rt.stdout"

local LANGUAGES <const> = { sh = true, console = true, lua = true, yaml = true, json = true,
  jsonl = true, markdown = true, text = true, csv = true, diff = true, [""] = true }
local OPTIONS <const> = { ["not run"] = true, long = true, stub = true, exit = true, file = true }

-- How lines of a shell begin in our pages: they do not stand in a block without a language.
local COMMANDS <const> = { "^skillopt[ %-]", "^make ", "^%$ ", "^apt%-get ", "^cp " }

local function lines_of(text)
  local out = {}
  for line in (text:gsub("\n?$", "\n")):gmatch "([^\n]*)\n" do out[#out + 1] = line end
  return out
end

--- Blocks in order: language, line, content, option and value of the comment before it.
local function blocks(text)
  local out, block, option, value = {}, nil, nil, nil
  for number, line in ipairs(lines_of(text)) do
    local fence = line:match "^```(.*)$"
    if block and fence then
      out[#out + 1], block = block, nil
    elseif block then
      block.lines[#block.lines + 1] = line
    elseif fence then
      block = { language = fence, at = number, lines = {}, option = option, value = value }
      option, value = nil, nil
    elseif line ~= "" then
      option, value = line:match "^<!%-%- ([a-z ]+): (.*) %-%->$"
    end
  end
  if block then error(("line %d: the block does not end"):format(block.at), 0) end
  return out
end

--- Commands of a console block as a script that prints each before it runs it.
local function script_of(block)
  local out = {}
  for _, line in ipairs(block.lines) do
    local command = line:match "^%$ (.*)$"
    if command then
      out[#out + 1] = ("printf '%%s\\n' '$ %s'"):format((command:gsub("'", "'\\''")))
      out[#out + 1] = command
    end
  end
  return out
end

local function name_of(block)
  if block.option == "file" then return block.value end
  local first = block.lines[1] or ""
  return first:match "^%-%- ([%w_./-]+%.[a-z]+)%f[^%w]"
    or first:match "^# ([%w_./-]+%.[a-z]+)%f[^%w]"
end

local function write(path, lines)
  assert(file.write(path, table.concat(lines, "\n") .. "\n"))
end

local function plan_one(block, number, folder)
  local stem = ("%s/%02d"):format(folder, number)
  if block.language == "sh" then
    write(stem .. ".sh", block.lines)
    return "run"
  elseif block.language == "console" then
    write(stem .. ".sh", script_of(block))
    write(stem .. ".shown", block.lines)
    return "show"
  end
  local name = name_of(block)
  if not name then return nil end
  write(stem .. ".file", block.lines)
  block.option, block.value = "file", name
  return "file"
end

--- What is wrong with a block; nil when nothing is.
local function fault_of(block)
  if not LANGUAGES[block.language] then return "there is no language " .. block.language end
  if block.option and not OPTIONS[block.option] then
    return "there is no option " .. block.option
  end
  if block.language ~= "" and block.language ~= "text" then return nil end
  for _, line in ipairs(block.lines) do
    for _, pattern in ipairs(COMMANDS) do
      if line:find(pattern) then return "shell commands stand in a block of sh" end
    end
  end
end

local function plan(page, folder)
  for number, block in ipairs(blocks(assert(file.read(page)))) do
    local fault = fault_of(block)
    if fault then block.option, block.value = "fault", fault end
    local kind = fault and "wrong" or plan_one(block, number, folder)
    if kind then
      stdout.write(("%s\t%02d\t%d\t%s\t%s\n"):format(kind, number, block.at, block.option or "-",
        block.value or "-"))
    end
  end
  return 0
end

local function same(shown, got)
  local start = shown:match "^(.*) %.%.%.$"
  if start then return got:sub(1, #start) == start end
  return shown == got
end

--- Do the lines from s on show those from g on?
local function matches(shown, got, s, g)
  while shown[s] and shown[s] ~= "..." do
    if not got[g] or not same(shown[s], got[g]) then return false, s end
    s, g = s + 1, g + 1
  end
  if not shown[s] then return g > #got, s end
  local furthest = s
  for at = g, #got + 1 do
    local ok, reached = matches(shown, got, s + 1, at)
    if ok then return true end
    furthest = math.max(furthest, reached)
  end
  return false, furthest
end

local function compare(shown_path, got_path)
  local shown, got = lines_of(assert(file.read(shown_path))), lines_of(assert(file.read(got_path)))
  local ok, at = matches(shown, got, 1, 1)
  if ok then return 0 end
  stdout.write(("not what it prints: %s\n"):format(shown[at] or "(more is printed than shown)"))
  return 1
end

local DO <const> = { plan = plan, compare = compare }
local what = (...)
return DO[what](select(2, ...))
