---@meta

--- Prompt files: Markdown whose front matter declares inputs.
---
---     ---
---     inputs:
---       skill: the document as it is
---       notes: remarks of earlier steps, or nothing
---     ---
---     You improve a document.
---     === user ===
---     {{skill}}
---     {{#notes}}
---     Remarks: {{notes}}
---     {{/notes}}
---
--- What stands above `=== user ===` is the system message, the rest the user's; without
--- that line all is the user's. Lines between `{{#name}}` and `{{/name}}` go when the
--- input is empty. Blank lines around a message are not part of it.
---@class rt.template
local template = {}

---@class rt.template.parse_options
---@field name? string  what the text is, for messages: "prompts/a.md, line 7: ..."

---@class rt.template.template
local Template = {}

--- Parse a file. Every `{{` must be one of the forms above and every name an input.
---@param text string
---@param options? rt.template.parse_options
---@return rt.template.template? template
---@return rt.err? err  kind "config"
function template.parse(text, options) end

--- What the inputs are: name -> the line that describes it.
---@return table<string, string>
function Template:inputs() end

--- Fill in. Each input must be given ("" for nothing) and no other; values are inserted
--- byte for byte and never looked at.
---@param values table<string, string>
---@return {system: string, user: string}? messages
---@return rt.err? err  kind "config" or, when too long, "limit"
function Template:render(values) end

return template
