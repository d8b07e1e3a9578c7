--- A target that answers "yes", but with a server's fault where the skill says "fails: WORD"
--- and the question has that word.
return {
  reply = function(request)
    if not request then return { status = 404, body = "{}" } end
    local messages = request.messages
    local system = messages[1].role == "system" and messages[1].content or ""
    local word = system:match "fails: (%w+)"
    if word and messages[#messages].content:find(word, 1, true) then
      return { status = 500, body = "{}" }
    end
    return { text = "<answer>yes</answer>" }
  end,
}
