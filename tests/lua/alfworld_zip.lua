--- ZIP archives made for tests: entries as they are, not packed.
local M = {}

local function crc_table()
  local t = {}
  for i = 0, 255 do
    local c = i
    for _ = 1, 8 do c = c & 1 == 1 and 0xEDB88320 ~ (c >> 1) or c >> 1 end
    t[i] = c
  end
  return t
end

local CRC <const> = crc_table()

local function crc32(bytes)
  local c = 0xFFFFFFFF
  for i = 1, #bytes do c = CRC[(c ~ bytes:byte(i)) & 0xFF] ~ (c >> 8) end
  return c ~ 0xFFFFFFFF
end

--- The fields that an entry's header and its line in the directory share.
local function facts(name, bytes)
  return string.pack("<I2I2I2I2I2I4I4I4I2I2", 20, 0x800, 0, 0, 0x21, crc32(bytes), #bytes, #bytes,
    #name, 0)
end

--- An archive of these entries.
---@param entries {name: string, bytes: string}[]
---@return string
function M.make(entries)
  local body, directory, offset = {}, {}, 0
  for _, entry in ipairs(entries) do
    local fields = facts(entry.name, entry.bytes)
    local record = "PK\3\4" .. fields .. entry.name .. entry.bytes
    directory[#directory + 1] = "PK\1\2" .. string.pack("<I2", 20) .. fields
      .. string.pack("<I2I2I2I4I4", 0, 0, 0, 0, offset) .. entry.name
    body[#body + 1], offset = record, offset + #record
  end
  local list = table.concat(directory)
  return table.concat(body) .. list .. "PK\5\6"
    .. string.pack("<I2I2I2I2I4I4I2", 0, 0, #entries, #entries, #list, offset, 0)
end

return M
