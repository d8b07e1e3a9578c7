--- rt.journal: rows that are stored before anybody sees them, found again by name.
local test = require "skillopt.test"
local file = require "rt.file"
local journal = require "rt.journal"
local json = require "rt.json"
local task = require "skillopt.task"

--- Path of a journal in a fresh folder, which goes when the variable is closed.
local function fresh()
  local root = os.tmpname()
  assert(file.remove(root))
  assert(file.mkdir(root))
  local ending = setmetatable({}, {
    __close = function()
      assert(file.remove(root:match "[^/]+$", { root = root:match "^(.*)/" }))
    end,
  })
  return root .. "/journal.db", ending
end

test("journal.open without a path lives in memory", function(t)
  local j = assert(journal.open())
  t.equal(j:last(), 0)
  t.equal(j:put("body", "", "k", "text"), 1)
  t.equal(j:read(1), "text")
  t.equal(j:close(), true)
  t.equal(j:close(), true)
end)

test("journal:store waits for the disk, journal:find finds the row in the next life", function(t)
  local path, ending <close> = fresh()
  local j = assert(journal.open(path))
  t.equal(j:store("effect", "a/b", "key", "reply\0bytes"), true)
  t.equal(j:find("effect", "a/b", "key"), 1)
  t.equal(j:find("effect", "a/b", "other"), nil)
  assert(j:close())
  j = assert(journal.open(path))
  t.equal(j:last(), 1)
  t.equal(j:lost(), 0)
  t.equal(j:read(j:find("effect", "a/b", "key")), "reply\0bytes")
  assert(j:close())
end)

test("journal:store of many tasks shares commits", function(t)
  local path, ending <close> = fresh()
  local j = assert(journal.open(path))
  local places = {}
  for i = 1, 500 do places[i] = i end
  task.map(places, function(i)
    assert(j:store("effect", "slot/" .. i, "key", ("x"):rep(i * 10)))
  end)
  t.equal(j:last(), 500)
  for i = 1, 500 do t.equal(#j:read(j:find("effect", "slot/" .. i, "key")), i * 10) end
  assert(j:close())
end)

test("journal:put refuses a name that is taken, but for openings and intents", function(t)
  local j = assert(journal.open())
  t.equal(j:put("value", "s", "k", "1"), 1)
  local n, err = j:put("value", "s", "k", "2")
  t.equal(n, nil)
  t.equal(err.kind, "bug")
  t.equal(j:put("intent", "s", "k", "1"), 2)
  t.equal(j:put("intent", "s", "k", "2"), 3)
  t.equal(j:find("intent", "s", "k"), 3)
  assert(j:close())
end)

test("journal:next goes through the rows of a kind, journal:row gives all of one", function(t)
  local j = assert(journal.open())
  assert(j:put("open", "", "run", "1"))
  assert(j:put("decision", "step", "gate", "{}"))
  assert(j:put("open", "", "run", "2"))
  t.equal(j:next("open", 0), 1)
  t.equal(j:next("open", 1), 3)
  t.equal(j:next("open", 3), nil)
  t.equal(j:row(2), { kind = "decision", slot = "step", key = "gate", data = "{}" })
  local row, err = j:row(4)
  t.equal(row, nil)
  t.equal(err.kind, "io")
  assert(j:close())
end)

test("journal:decode gives the data as JSON, or says where it is none", function(t)
  local j = assert(journal.open())
  local text = '{"a":[1,2.5,"x\\u00e9"],"b":null,"c":{}}'
  assert(j:store("effect", "s", "good", text))
  assert(j:store("effect", "s", "long", json.canonical { text = ("reply "):rep(100) }))
  assert(j:store("effect", "s", "bad", "{"))
  t.equal(json.canonical(j:decode(1)), json.canonical(json.decode(text)))
  t.equal(j:decode(2).text, ("reply "):rep(100))
  local value, err = j:decode(3)
  t.equal({ value, err.kind }, { nil, "parse" })
  value, err = j:decode(4)
  t.equal({ value, err.kind }, { nil, "io" })
  assert(j:close())
end)

test("journal:copy takes rows of a parent that is only read", function(t)
  local path, ending <close> = fresh()
  local child_path, child_ending <close> = fresh()
  local parent = assert(journal.open(path))
  assert(parent:store("body", "", "k", ("text "):rep(1000)))
  assert(parent:close())
  parent = assert(journal.open(path, { read_only = true }))
  local child = assert(journal.open(child_path))
  t.equal(child:copy(parent, 1), 1)
  t.equal(child:read(1), ("text "):rep(1000))
  local n, err = parent:put("body", "", "k2", "")
  t.equal(n, nil)
  t.equal(err.kind, "io")
  assert(child:close())
  assert(parent:close())
end)

test("journal:chain names the content, however it was grouped", function(t)
  local chains = {}
  for life = 1, 2 do
    local path, ending <close> = fresh()
    local j = assert(journal.open(path))
    for i = 1, 20 do
      local add = life == 1 and j.put or j.store
      assert(add(j, "value", "s", "k" .. i, "v" .. i))
    end
    assert(j:store("value", "s", "last", ""))
    chains[life] = j:chain()
    assert(j:close())
  end
  t.equal(chains[1], chains[2])
  t.ok(chains[1]:find "^%x+$" and #chains[1] == 64, chains[1])
end)

test("journal.open says how many rows are missing, and goes on with accept_loss", function(t)
  local path, ending <close> = fresh()
  local j = assert(journal.open(path))
  for i = 1, 3 do assert(j:store("value", "s", "k" .. i, "")) end
  assert(j:close())
  assert(file.remove(path))
  local none, err = journal.open(path)
  t.equal(none, nil)
  t.equal(err.kind, "io")
  t.ok(err.message:find("3 are missing", 1, true), err.message)
  t.ok(err.hint:find("--accept-loss", 1, true), err.hint)
  j = assert(journal.open(path, { accept_loss = true }))
  t.equal(j:lost(), 3)
  assert(j:close())
end)

test("journal:state is ok while rows are taken", function(t)
  local j = assert(journal.open())
  t.equal((j:state()), "ok")
  assert(j:close())
  t.raises(function() j:last() end, "closed")
end)

test("a journal in memory has nothing to be read alone", function(t)
  local j, err = journal.open(nil, { read_only = true })
  t.equal({ j, err.kind }, { nil, "bug" })
end)

test("a kind that is none raises", function(t)
  local j = assert(journal.open())
  t.raises(function() j:put("reply", "", "", "") end, "there is no row kind 'reply'")
  assert(j:close())
end)
