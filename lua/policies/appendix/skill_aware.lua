--- Notes of analysts about rules that are there but were not followed, and, when there are
--- more than a threshold, a call that makes them fewer.
local appendix = require "skillopt.appendix"
local policy = require "skillopt.policy"
local document = require "rt.document"
local json = require "rt.json"

local MAX_TOKENS <const> = 4096

local function numbered(notes)
  local out = {}
  for i, note in ipairs(notes) do out[i] = ("%d. %s"):format(i, note) end
  return table.concat(out, "\n")
end

local function check(reply)
  local notes = type(reply) == "table" and appendix.notes_in(reply.appendix_notes) or {}
  return #notes > 0, '"appendix_notes" must list the notes that stay'
end

return policy.define {
  slot = "appendix",
  options = {
    source = { "choice", key = "optimizer.skill_aware_appendix_source",
      choices = { "both", "failure_only" }, doc = "whose notes are taken" },
    threshold = { "integer", key = "optimizer.skill_aware_consolidate_threshold", min = 0,
      doc = "notes after which they are made fewer; 0 = never" },
  },
  run = function(raws, _, opt)
    local notes = json.array {}
    for _, raw in ipairs(raws) do
      local is_taken = opt.source == "both" or raw.source_type == "failure"
      for _, note in ipairs(is_taken and raw.appendix_notes or {}) do
        notes[#notes + 1] = note
      end
    end
    return notes
  end,
  compact = function(notes, ctx, opt)
    if opt.threshold == 0 or #notes <= opt.threshold then return nil end
    local reply = ctx:ask {
      prompt = "appendix_consolidate", inputs = { notes = numbered(notes), count = #notes },
      stage = "appendix_consolidate", want = { "appendix_notes" }, max_tokens = MAX_TOKENS,
      check = check,
    }
    if not reply then return nil end
    return document.distinct_notes(appendix.notes_in(reply.appendix_notes))
  end,
}
