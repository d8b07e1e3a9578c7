--- flip.lua FILE OFFSET BIT - turn one bit of a file; an offset below zero counts from the end.
local path, offset, bit = ...
local f = assert(io.open(path, "r+b"))
local size = f:seek "end"
local at = math.tointeger(tonumber(offset)) % size
f:seek("set", at)
local byte = f:read(1):byte()
f:seek("set", at)
f:write(string.char(byte ~ (1 << math.tointeger(tonumber(bit)))))
f:close()
