--- Back-ends: one table a provider, in lua/backends; the protocols they speak.
local loader = require "skillopt.loader"
local file = require "rt.file"
local names = require "skillopt.names"

local M = {}

---@class skillopt.Backend
---@field name string
---@field protocol skillopt.Protocol builds request bodies and reads answers
---@field quirks (fun(settings: table, model: string): table)? what the protocol should know of this server
---@field send (fun(body: string, settings: table, timeout_s: number?): table?, skillopt.Err?)? over the network: `{status, headers, body}`
---@field is_free boolean? it costs nothing, and needs no price under a cap
---@field handle (fun(body: string, settings: table): table?, skillopt.Err?)? in this process, instead of `send`

--- Names of the back-ends that are here.
---@return string[]
function M.installed()
  local out = {}
  for _, name in ipairs(file.list(loader.home .. "/lua/backends") or {}) do
    out[#out + 1] = name:match "^([a-z_]+)%.lua$" or (not name:find("%.") and name) or nil
  end
  return out
end

--- Load a back-end by its canonical name.
---@param name string
---@return skillopt.Backend
function M.load(name)
  for _, known in ipairs(M.installed()) do
    if known == name then return require("backends." .. name) end
  end
  local near = names.nearest(name, M.installed())
  error({ kind = "config",
    message = string.format("there is no back-end '%s' in this version", name),
    hint = near and string.format("did you mean '%s'?", near)
      or "here are: " .. table.concat(M.installed(), ", "), retry = false }, 0)
end

return M
