--- Is the file one JSON value?
local json = require "rt.json"
local file = require "rt.file"
return json.decode(assert(file.read((...)))) and 0 or 1
