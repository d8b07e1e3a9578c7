--- Download the archives of a data source, prove what came, unpack what is needed.
local archive = require "rt.archive"
local digest = require "rt.digest"
local file = require "rt.file"
local http = require "rt.http"
local refuse = require "skillopt.refuse"

local M = {}

local HOPS <const>, MOST_BYTES <const>, SILENCE_S <const> = 5, 1 << 30, 60
local MOVED <const> = { [301] = true, [302] = true, [303] = true, [307] = true, [308] = true }

--- Where a redirection leads; a path alone stays with the server.
local function target_of(url, location)
  if location:find "^https?://" then return location end
  return url:match "^(https?://[^/]+)" .. (location:sub(1, 1) == "/" and "" or "/") .. location
end

--- The body at an address, over redirections; a secure address never leads to a plain one.
---@async
local function download(url)
  for _ = 1, HOPS do
    local answer, err = http.request { url = url, max_body = MOST_BYTES,
      idle_timeout_s = SILENCE_S }
    if not answer then return nil, err end
    if answer.status == 200 then return answer.body end
    local location = answer.headers.location
    if not MOVED[answer.status] or not location then
      return refuse("network", ("%s answered with status %d"):format(url, answer.status))
    end
    local next_url = target_of(url, location)
    if url:find "^https:" and not next_url:find "^https:" then
      return refuse("network", ("%s leads to the unprotected %s"):format(url, next_url))
    end
    url = next_url
  end
  return refuse("network", ("%s: more than %d redirections"):format(url, HOPS))
end

--- The bytes of an archive: from its address, or from another server or a folder.
---@async
local function bytes_of(entry, from)
  if not from then return download(entry.url) end
  if from:find "^https?://" then return download(from:gsub("/+$", "") .. "/" .. entry.name) end
  return file.read(from .. "/" .. entry.name)
end

local function check_digest(entry, bytes)
  local found = digest.sha256(bytes)
  if found == entry.sha256 then return true end
  local words = "%s is not the archive that was released: SHA-256 %s, expected %s"
  return refuse("data", words:format(entry.name, found, entry.sha256),
    "an incomplete download? --unchecked takes it as it is")
end

local function write(root, path, bytes)
  local ok, err = file.mkdir((root .. "/" .. path):match "^(.*)/")
  if not ok then return nil, err end
  return file.write(root .. "/" .. path, bytes, { keep_equal = true })
end

--- A path that stays below the root it is joined to.
local function is_inside(path)
  if path:find "^/" or path:find "[%z\\]" then return false end
  for part in path:gmatch "[^/]+" do
    if part == ".." then return false end
  end
  return true
end

local function unpack(bytes, source, root)
  local zip, err = archive.open(bytes)
  if not zip then return nil, err end
  local opened <close> = zip
  local count = 0
  local function has(path) return file.kind(root .. "/" .. path) == "file" end
  for i, name in ipairs(opened:names()) do
    local path = source.wanted(name, has)
    if path and is_inside(path) then
      local content, read_err = opened:read(i)
      if not content then return nil, read_err end
      local ok, write_err = write(root, path, content)
      if not ok then return nil, write_err end
      count = count + 1
    end
  end
  return count
end

--- Get all archives. Names what is done through `say`.
---@async
---@param source skillopt.DataSource
---@param root string
---@param options {from: string?, unchecked: boolean?, say: fun(line: string)}
---@return true? ok
---@return skillopt.Err? err
function M.run(source, root, options)
  for _, entry in ipairs(source.archives) do
    options.say(("%s: getting it from %s"):format(entry.name, options.from or entry.url))
    local bytes, err = bytes_of(entry, options.from)
    if not bytes then return nil, err end
    if not options.unchecked then
      local ok, digest_err = check_digest(entry, bytes)
      if not ok then return nil, digest_err end
    end
    local count
    count, err = unpack(bytes, source, root)
    if not count then return nil, err end
    options.say(("%s: %d bytes, %d files unpacked to %s"):format(entry.name, #bytes, count, root))
  end
  return true
end

return M
