--- A ReAct environment: find a fact in a small set of files with tools, then answer.
local skillopt = require "skillopt"
local score = require "rt.score"

local function text_schema(name, doc)
  return { type = "object", required = { name },
    properties = { [name] = { type = "string", description = doc } } }
end

--- The tools of one item: they see its workspace and nothing else.
local function tools_for(workspace)
  return {
    {
      name = "list", description = "names of all files",
      parameters = { type = "object", properties = {} },
      run = function() return table.concat(workspace:list(), "\n") end,
    },
    {
      name = "read", description = "the content of one file",
      parameters = text_schema("path", "a name that list gave"),
      run = function(arguments)
        local path = arguments.path
        return workspace:read(path) or error("there is no file " .. tostring(path), 0)
      end,
    },
    {
      name = "python",
      description = "run a Python 3 program in the folder of the files, which it may change",
      parameters = text_schema("code", "the program"),
      run = function(arguments, ctx)
        local done = ctx:run({ "python3", "-" },
          { workspace = workspace, stdin = arguments.code, timeout_s = 10 })
        if done.state == "exit" and done.code == 0 then return done.stdout end
        error(("%s %s: %s"):format(done.state, done.code or "", done.stderr), 0)
      end,
    },
  }
end

return skillopt.env {
  name = "react",
  required = { "question", "answers", "files" },
  options = { max_turns = { "integer", 8, "model calls an item may use", min = 1 } },
  rollout = function(item, ctx)
    local workspace = ctx:workspace()
    for path, text in pairs(item.files) do workspace:write(path, text) end
    local prompt = ctx:prompt("rollout", { skill = ctx.skill, question = item.question })
    local reply = ctx:agent { system = prompt.system, user = prompt.user,
      tools = tools_for(workspace), max_turns = ctx.opt.max_turns }
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
