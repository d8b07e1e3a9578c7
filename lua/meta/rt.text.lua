---@meta

--- Texts in characters (code points), with the blanks, line breaks, words and case
--- mappings of CPython's `str`. Any bytes are accepted: an invalid byte counts as one
--- character and stays as it is.
---@class rt.text
local text = {}

--- Without the blanks at both ends.
---@param s string
---@return string
function text.strip(s) end

--- Without the blanks at the left.
---@param s string
---@return string
function text.lstrip(s) end

--- Without the blanks at the right.
---@param s string
---@return string
function text.rstrip(s) end

--- The pieces between blanks.
---@param s string
---@return string[]
function text.split(s) end

--- The lines, breaks not included. A break at the end starts no further line.
---@param s string
---@return string[]
function text.lines(s) end

--- The words joined by single spaces.
---@param s string
---@return string
function text.collapse(s) end

--- Lower case, full mapping (a final sigma included).
---@param s string
---@return string
function text.lower(s) end

--- Upper case, full mapping (one character may become three).
---@param s string
---@return string
function text.upper(s) end

--- Case folding, full mapping, for comparing texts without regard to case.
---@param s string
---@return string
function text.casefold(s) end

--- Canonical composition (NFC).
---@param s string
---@return string
function text.nfc(s) end

--- The number of characters.
---@param s string
---@return integer
function text.length(s) end

--- `string.sub` in characters: negative positions count from the end.
---@param s string
---@param first integer
---@param last? integer default -1
---@return string
function text.sub(s, first, last) end

--- Valid UTF-8: every maximal invalid piece becomes one U+FFFD.
---@param s string
---@return string
function text.fix(s) end

--- Whether the bytes are valid UTF-8.
---@param s string
---@return boolean
function text.is_valid(s) end

--- An estimate of the tokens of a text. A character of one, two, three or four bytes
--- counts 1, 2, 4 or 8 quarters of a token, the sum is rounded up: four letters of English
--- and one Chinese character a token. A longer text never counts less; the estimates of
--- two texts add up to that of their concatenation or one more.
---@param s string
---@return integer
function text.tokens(s) end

--- At most `max_tokens` tokens of a text: its beginning, `mark`, its end. Without room for
--- the mark only the beginning is left.
---@param s string
---@param max_tokens integer
---@param mark? string default "\n[...]\n"
---@return string
---@return integer removed characters cut out, 0 when the text fits
function text.cut_middle(s, max_tokens, mark) end

--- A text of at most `limit` characters as it is; a longer one by its leading pieces, as
--- many as fit whole. Pieces start at `border`; a border before the first piece kept is
--- dropped. When no piece fits: the first `limit` characters and a line `...[truncated]`.
---@param s string
---@param limit integer characters
---@param border string
---@return string
function text.cut_at(s, limit, border) end

--- Where `plain` occurs first at or behind the character `start`. No patterns.
---@param s string
---@param plain string
---@param start? integer default 1
---@return integer? first character, nil when it does not occur
---@return integer? last
function text.find(s, plain, start) end

--- Replace `find` by `with`, from the left. No patterns, in neither of them.
---@param s string
---@param find string not empty
---@param with string
---@param options? { count?: integer } count: at most so many times
---@return string?
---@return integer|rt.err replaced how many times
function text.replace(s, find, with, options) end

--- The text with "***" for every stretch covered by one of the secrets. Secrets of fewer
--- than 16 characters are too likely to be ordinary words and do not count.
---@param s string
---@param secrets string[]
---@return string
function text.scrub(s, secrets) end

return text
