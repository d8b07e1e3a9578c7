--- A ReAct environment: find a fact in a small set of files with tools, then answer.
local skillopt = require "skillopt"
local score = require "rt.score"

local function text_schema(name, doc)
  return { type = "object", required = { name },
    properties = { [name] = { type = "string", description = doc } } }
end

--- The tools of one item: they see its files and nothing else.
local function tools_for(files)
  return {
    {
      name = "list", description = "names of all files",
      parameters = { type = "object", properties = {} },
      run = function()
        local names = {}
        for name in pairs(files) do names[#names + 1] = name end
        return table.concat(names, "\n")
      end,
    },
    {
      name = "read", description = "the content of one file",
      parameters = text_schema("path", "a name that list gave"),
      run = function(arguments)
        local path = arguments.path
        if files[path] then return files[path] end
        error("there is no file " .. tostring(path), 0)
      end,
    },
  }
end

return skillopt.env {
  name = "react",
  required = { "question", "answers", "files" },
  options = { max_turns = { "integer", 8, "model calls an item may use", min = 1 } },
  rollout = function(item, ctx)
    local prompt = ctx:prompt("rollout", { skill = ctx.skill, question = item.question })
    local reply = ctx:agent { system = prompt.system, user = prompt.user,
      tools = tools_for(item.files), max_turns = ctx.opt.max_turns }
    local answer = score.tagged(reply.text, "answer")
    if not answer then ctx:no_answer "there is no answer tag" end
    return {
      answer = answer,
      hard = score.exact_match(answer, item.answers),
      soft = score.f1(answer, item.answers),
    }
  end,
  feedback = function(item, mark)
    return ("Predicted: %s\nExpected: %s"):format(mark.answer, item.answers[1])
  end,
}
