std = "lua54"
max_line_length = 120
max_comment_line_length = false -- an annotation stands on one line
ignore = { "211/.*ending" } -- closed at the end of their block
files["lua/meta"] = { ignore = { "211", "212", "241", "221", "311" } }
files["lua/skillopt/loader.lua"] = { ignore = { "122", "142" } }
self = false
