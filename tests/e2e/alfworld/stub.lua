--- The stub for alfworld.sh: a model that looks around, and a server of archives that sends
--- those who ask from one place to another.
local folder = os.getenv "ALFWORLD_ARCHIVES"

local function archive(name)
  local handle = io.open(folder .. "/" .. name, "rb")
  if not handle then return { status = 404, body = "not here" } end
  local bytes = handle:read "a"
  handle:close()
  return { body = bytes, headers = { ["content-type"] = "application/zip" } }
end

return {
  reply = function(request, info)
    if request and request.messages then
      return { text = "<think>let me see</think><action>look</action>", delay_ms = 150 }
    end
    local moved = info.path:match "^/moved/(.+)$"
    if moved then return { status = 302, headers = { location = "/files/" .. moved },
      body = "" } end
    if info.path:find "^/round/" then return { status = 301, headers = { location = info.path },
      body = "" } end
    return archive(info.path:match "^/files/(.+)$" or "none")
  end,
}
