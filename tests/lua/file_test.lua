--- rt.file: whole files, folders, removal below a root, names made of data.
local test = require "skillopt.test"
local file = require "rt.file"
local json = require "rt.json"

--- A fresh folder for one test; `at(name)` is a path in it.
local function folder()
  local root = os.tmpname()
  assert(file.remove(root))
  assert(file.mkdir(root))
  local function at(name)
    return file.join(root, name)
  end
  local ending = setmetatable({}, {
    __close = function()
      assert(file.remove(root:match "[^/]+$", { root = root:match "^(.*)/" }))
    end,
  })
  return at, ending, root
end

test("file.write and file.read carry any bytes", function(t)
  local at, ending <close> = folder()
  local bytes = "a\0b\xff\r\n"
  t.equal(file.write(at "f", bytes), true)
  t.equal(file.read(at "f"), bytes)
  t.equal(file.write(at "f", "new", { sync = true, keep_equal = true }), true)
  t.equal(file.read(at "f", { max = 3 }), "new")
end)

test("file.read says what is missing and what is too large", function(t)
  local at, ending <close> = folder()
  local text, err = file.read(at "none")
  t.equal(text, nil)
  t.equal(err.kind, "io")
  t.ok(err.message:find("No such file", 1, true), err.message)
  assert(file.write(at "four", "1234"))
  text, err = file.read(at "four", { max = 3 })
  t.equal(text, nil)
  t.equal(err.kind, "limit")
end)

test("file.write says why it cannot", function(t)
  local at, ending <close> = folder()
  local ok, err = file.write(at "no/folder", "x")
  t.equal(ok, nil)
  t.equal(err.kind, "io")
end)

test("file.read refuses unknown options and unusable paths", function(t)
  t.raises(function() file.read("x", { maximum = 3 }) end, "max")
  t.raises(function() file.read("a\0b") end, "zero byte")
  t.raises(function() file.read("") end, "empty")
end)

test("file.mkdir makes the folders on the way and file.list sorts by byte", function(t)
  local at, ending <close> = folder()
  t.equal(file.mkdir(at "a/b/c"), true)
  assert(file.write(at "a/z", ""))
  assert(file.write(at "a/B", ""))
  t.equal(file.list(at "a"), { "B", "b", "z" })
  local names, err = file.list(at "nowhere")
  t.equal(names, nil)
  t.equal(err.kind, "io")
end)

test("file.kind and file.exists tell what is there", function(t)
  local at, ending <close> = folder()
  assert(file.write(at "f", "12345"))
  assert(file.link(at "l", "nowhere"))
  t.equal({ file.kind(at "f") }, { "file", 5 })
  t.equal({ file.kind(at ".") }, { "folder", 0 })
  t.equal({ file.kind(at "l") }, { "link", 0 })
  t.equal({ file.kind(at "none") }, { "none", 0 })
  t.equal(file.exists(at "f"), true)
  t.equal(file.exists(at "l"), true)
  t.equal(file.exists(at "none"), false)
end)

test("file.link redirects a link", function(t)
  local at, ending <close> = folder()
  assert(file.mkdir(at "0001"))
  assert(file.mkdir(at "0002"))
  t.equal(file.link(at "latest", "0001"), true)
  t.equal(file.link(at "latest", "0002"), true)
  t.equal(file.absolute(at "latest"), file.absolute(at "0002"))
end)

test("file.remove takes one thing, or a tree below a root", function(t)
  local at, ending <close>, root = folder()
  assert(file.mkdir(at "d/e"))
  assert(file.write(at "d/f", ""))
  local ok, err = file.remove(at "d")
  t.equal(ok, nil)
  t.equal(err.kind, "io")
  t.equal(file.remove(at "d/f"), true)
  t.equal(file.remove(at "d/f"), true)
  t.equal(file.remove("d", { root = root }), true)
  t.equal(file.exists(at "d"), false)
  t.raises(function() file.remove("../x", { root = root }) end, "not below the root")
end)

test("file.absolute keeps the part that is not there yet", function(t)
  local at, ending <close> = folder()
  t.equal(file.absolute(at "a/./b"), file.absolute(at ".") .. "/a/b")
  local path, err = file.absolute(at "no/../x")
  t.equal(path, nil)
  t.equal(err.kind, "io")
end)

test("file.join puts one slash between, and takes an absolute name as it is", function(t)
  t.equal(file.join("a", "b"), "a/b")
  t.equal(file.join("a/", "b"), "a/b")
  t.equal(file.join("a", "/b"), "/b")
end)

test("file.label gives every id a name of its own", function(t)
  local seen = {}
  for _, item in ipairs(json.decode(test.read "tests/cases/d02_hostile_ids.json")) do
    local name = file.label(item.id)
    t.ok(name:find "^[%w_%%-][%w._%%-]*$", name)
    t.ok(not seen[name], name)
    seen[name] = true
  end
  t.equal(file.label "../../escape", "%2E.%2F..%2Fescape")
  t.equal(#file.label(("x"):rep(500)), 116)
end)

test("file.label with distinct tells names apart that differ by case", function(t)
  local name = file.label("Q1", { distinct = true })
  t.ok(name:find "^Q1~%x%x%x%x%x%x%x%x$", name)
  t.ok(name:lower() ~= file.label("q1", { distinct = true }):lower(), name)
end)

test("file.read_part reads from a byte on, less at the end", function(t)
  local at, ending <close> = folder()
  assert(file.write(at "f", "0123456789"))
  t.equal({ file.read_part(at "f", 2, 3), file.read_part(at "f", 8, 5) }, { "234", "89" })
  t.equal(file.read_part(at "f", 10, 5), "")
  local text, err = file.read_part(at "no", 0, 1)
  t.equal({ text, err.kind }, { nil, "io" })
end)

test("a file.draft replaces the file when it is finished, and not before", function(t)
  local at, ending <close>, root = folder()
  assert(file.write(at "f", "old"))
  local draft <close> = assert(file.draft(at "f"))
  for i = 1, 20000 do assert(draft:add(i .. "\n")) end
  t.equal(file.read(at "f"), "old")
  t.equal(draft:finish(), true)
  t.equal({ #file.read(at "f"), #file.list(root) }, { 108894, 1 })
  t.raises(function() draft:add "x" end, "over")
end)

test("a file.draft that is dropped leaves everything as it was", function(t)
  local at, ending <close>, root = folder()
  assert(file.write(at "f", "old"))
  do
    local draft <close> = assert(file.draft(at "f"))
    draft:add "new"
  end
  t.equal({ file.read(at "f"), file.list(root) }, { "old", { "f" } })
end)

test("a file.draft that says what the file says leaves it alone", function(t)
  local at, ending <close>, root = folder()
  local same = ("line\n"):rep(30000)
  assert(file.write(at "f", same))
  assert(file.link(at "g", "f"))
  local draft <close> = assert(file.draft(at "f", { keep_equal = true }))
  draft:add(same:sub(1, 99999))
  draft:add(same:sub(100000))
  t.equal({ draft:finish(), file.read(at "f") == same, #file.list(root) }, { true, true, 2 })
  local longer <close> = assert(file.draft(at "f", { keep_equal = true }))
  longer:add(same .. "more\n")
  t.equal({ longer:finish(), #file.read(at "f") }, { true, #same + 5 })
end)

test("a file.draft in a folder that is not there is an error of the world", function(t)
  local draft, err = file.draft "build/tmp/no/such/folder/f"
  t.equal({ draft, err.kind }, { nil, "io" })
end)
