---@meta

--- The skill document, bytes in and bytes out. A protected region is what stands between
--- `<!-- SLOW_UPDATE_START -->` or `<!-- APPENDIX_START -->` and the first end marker of its
--- kind behind it. Edits never reach into a region; one that is written moves to the end.
--- Ends of lines and a byte order mark stay as the document has them.
---@class rt.document
local document = {}

---@alias rt.document.region "slow_update"|"appendix"

--- One change, as an optimizer proposes it. Names of operations count in any case; a
--- missing or null field is empty.
---@class rt.document.edit
---@field op string `append`, `insert_after`, `replace`, `delete`
---@field target? string text that occurs in the body once
---@field content? string what to put there, stripped

--- What became of an edit. `fate` is one of
---   applied           the text is changed
---   anchor_missing    the target does not occur (`near`: but almost)
---   anchor_ambiguous  it occurs more than once (`matches`)
---   protected         it occurs only where a region is touched
---   no_change         the text would be the same
---   empty_target      the operation needs one
---   empty_content     nothing to add
---   unknown_op        no such operation
---   malformed         not an object, or a field of another type (`error`)
---   over_size         the text would grow beyond the limit
---@class rt.document.row
---@field index integer place in the list of edits
---@field op string
---@field target string first 200 characters
---@field content_preview string first 200 characters of the content as it is used
---@field status string the reference's word, or `skipped_` and the fate
---@field fate string
---@field matches? integer
---@field near? string `a near match differs only in quotes and spaces`
---@field error? string

--- Apply edits to the body, in order, each on the result of the one before.
---   append        a paragraph before the first region, or at the end
---   insert_after  a paragraph behind the line in which the target ends
---   replace       the content for the target; an empty one deletes
---   delete        nothing for the target
---@param text string at most 16 MiB
---@param edits rt.document.edit[]
---@param options? { max_tokens?: integer } max_tokens: no edit makes the text longer when
---       it then has more than so many tokens, as text.tokens estimates them
---@return string? text
---@return rt.document.row[]|rt.err rows one for each edit
function document.apply(text, edits, options) end

--- The text with each region as one private-use character that does not occur in it, and
--- the content of the regions by name.
---@param text string
---@return string? body
---@return table<rt.document.region, string>|rt.err regions
function document.body(text) end

--- The same regions around another body: each where its character is, or at the end.
--- Markers in `body` are taken out; the body of `text` itself gives `text`.
---@param text string
---@param body string
---@return string?
---@return rt.err?
function document.with_body(text, body) end

--- The content of the first region of that name, stripped; nil when there is none.
---@param text string
---@param name rt.document.region
---@return string?
function document.region(text, name) end

--- The text with this one region of that name, at the end. Markers in the content are
--- taken out.
---@param text string
---@param name rt.document.region
---@param content string
---@return string
function document.with_region(text, name, content) end

--- The text without regions of that name and their lone markers.
---@param text string
---@param name rt.document.region
---@return string
function document.without_region(text, name) end

--- The first 16 hex digits of the text's SHA-256.
---@param text string
---@return string
function document.hash(text) end

--- The same of the text without empty regions and without blanks at its end: equal for
--- texts that say the same.
---@param text string
---@return string
function document.key(text) end

--- The notes of the appendix: its lines without bullets, blank lines and heading.
---@param text string
---@return string[]
function document.notes(text) end

--- The text with an appendix of these notes and no others, at the end. Of notes that say
--- the same (but for case, blanks and the punctuation at their end) the first counts.
---@param text string
---@param notes string[]
---@return string
function document.with_notes(text, notes) end

--- The notes as with_notes would keep them.
---@param notes string[]
---@return string[]
function document.distinct_notes(notes) end

--- The text without any marker of a region.
---@param text string
---@return string
function document.clean(text) end

--- The YAML between the first line `---` and the next line `---` or `...`, and the byte
--- at which the rest begins; nil when the text does not start with front matter.
---@param text string
---@return string? yaml
---@return integer? rest
function document.front_matter(text) end

--- What is wrong with the document, a sentence each; empty when it is sound. Whether the
--- front matter is good YAML is for the caller.
---@param text string
---@return string[]
function document.check(text) end

return document
