---@meta

--- Marks of short answers. Both sides are normalised first: lower case, ASCII punctuation
--- deleted, the words a, an, the deleted, blanks collapsed. Golds are a list of texts
--- (numbers count as their text) or one text; the best of them counts. An answer that is
--- nil is worth 0.0.
---@class rt.score
local score = {}

--- The normalised text.
---@param text string
---@return string
function score.normalize(text) end

--- 1.0 when the answer equals a gold, else 0.0.
---@param answer string?
---@param golds string|string[]
---@return number
function score.exact_match(answer, golds) end

--- The harmonic mean of precision and recall over words, 0.0 to 1.0.
---@param answer string?
---@param golds string|string[]
---@return number
function score.f1(answer, golds) end

--- 1.0 when the answer is part of a gold or a gold of the answer, else 0.0. An empty side
--- is part of nothing.
---@param answer string?
---@param golds string|string[]
---@return number
function score.sub_em(answer, golds) end

--- The mean of numbers, added from the first to the last; nil for none.
---@param numbers number[]
---@return number?
function score.mean(numbers) end

--- The content, stripped, of the last complete and innermost pair of tags `<tag>`,
--- `</tag>` (any case, no attributes). Text in <think>, <thinking>, <thought> and
--- <reasoning> blocks does not count. Without a pair: nil, or with
--- `fallback = "last_line"` the last line that is not blank, tags taken out of it.
--- With `reference = true` the reference's rule instead: the last shortest pair counted
--- from the first open tag, thought included; else the last line; else "".
---@param text string
---@param tag string letters, digits, "_" and "-"
---@param options? { fallback?: "none"|"last_line", reference?: boolean }
---@return string?
function score.tagged(text, tag, options) end

return score
