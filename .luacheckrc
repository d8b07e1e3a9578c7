std = "lua54"
max_line_length = 120
files["lua/meta"] = { ignore = { "211", "212", "241", "221", "311" } }
files["lua/skillopt/loader.lua"] = { ignore = { "122", "142" } }
self = false
