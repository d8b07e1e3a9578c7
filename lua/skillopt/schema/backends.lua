--- Back-ends by name: who they are, which role they may play, what they pair with, the
--- model that is asked when none was named, and their keys.
---
--- `usable` back-ends can be run; the others are names of the reference that this version
--- knows and refuses with words. A row of `keys` is `{ part, type, doc, ... }`: the part
--- `base_url` of `qwen_chat` is the key `model.qwen_chat_base_url`, in the environment
--- `QWEN_CHAT_BASE_URL`; with `by_role` there are also `model.target_qwen_chat_base_url`
--- and `TARGET_QWEN_CHAT_BASE_URL`, and the same for the optimizer; `role_inside` adds
--- the spelling `AZURE_OPENAI_TARGET_ENDPOINT`.
local M = {}

-- Which roles a label speaks for; a role it is silent about is asked through openai_chat.
local BOTH <const> = { optimizer = true, target = true }
local TARGET <const> = { target = true }

M.list = {
  {
    name = "openai_compatible", usable = true, label_for = BOTH, roles = BOTH,
    aliases = { "openai_compatible_chat", "openai-compatible", "compat" },
    model = "gpt-4o-mini", by_role = true,
    keys = {
      { "base_url", "url", "address of the server, with its /v1",
        default = "https://api.openai.com/v1" },
      { "api_key", "secret", "key of the server" },
      { "temperature", "number", "`none` = not sent", min = 0, off = true,
        default = "none" },
      { "max_tokens", "integer", "most tokens of one reply", min = 1, default = 8000 },
      { "timeout_seconds", "number", "time for one attempt", above = 0, default = 300 },
    },
  },
  {
    name = "qwen_chat", usable = true, label_for = TARGET, roles = BOTH,
    aliases = { "qwen" }, model = "Qwen/Qwen3.5-4B", by_role = true,
    keys = {
      { "base_url", "url", "address of the server, with its /v1",
        default = "http://localhost:8000/v1" },
      { "api_key", "secret", "key of the server" },
      { "temperature", "number", "`none` = not sent", min = 0, off = true,
        default = 0.7 },
      { "max_tokens", "integer", "most tokens of one reply", min = 1, default = 8000 },
      { "timeout_seconds", "number", "time for one attempt", above = 0, default = 300 },
      { "thinking_mode", "choice",
        "whether the model thinks; server_default sends nothing about it",
        choices = { "server_default", "enabled", "disabled" },
        words = { ["server-default"] = "server_default", unset = "server_default",
          auto = "server_default", none = "server_default", null = "server_default",
          ["true"] = "enabled", ["1"] = "enabled", yes = "enabled", on = "enabled",
          enable = "enabled", ["false"] = "disabled", ["0"] = "disabled",
          no = "disabled", off = "disabled", disable = "disabled" } },
      { "enable_thinking", "boolean",
        "older form of thinking_mode: true = enabled, false = server_default" },
      { "use_max_completion_tokens", "boolean",
        "send max_completion_tokens in place of max_tokens", default = false },
    },
  },
  {
    name = "sim", usable = true, label_for = BOTH, roles = BOTH, model = "sim",
    by_role = true,
    keys = {
      { "noise", "number", "share of replies that are spoilt on purpose", min = 0,
        max = 1, env = {} },
      { "latency_seconds", "number", "time a reply takes", min = 0, class = "run",
        env = {} },
      { "error_rate", "number", "share of calls that fail", min = 0, max = 1, env = {} },
      { "malformed_rate", "number", "share of optimizer replies that are no JSON",
        min = 0, max = 1, env = {} },
    },
  },
  {
    name = "openai_chat", label_for = BOTH, roles = BOTH, model = "gpt-4o",
    prefix = "azure_openai", by_role = true, role_inside = true,
    keys = {
      { "endpoint", "url", "address of the resource", old = "azure_endpoint" },
      { "api_version", "string", "version of the service", class = "run",
        old = "azure_api_version" },
      { "api_key", "secret", "key of the resource", old = "azure_api_key" },
      { "auth_mode", "string", "how to log in", class = "run" },
      { "ad_scope", "string", "scope of the login", class = "run" },
      { "managed_identity_client_id", "string", "client of the login", class = "run" },
    },
  },
  { name = "azure_openai", aliases = { "azure", "azure-openai" }, means = "openai_chat",
    label_for = BOTH, roles = {}, model = "gpt-4o" },
  { name = "codex", aliases = { "openai" }, means = "codex_exec", label_for = BOTH,
    roles = {}, model = "gpt-4o" },
  {
    name = "codex_exec", label_for = BOTH, roles = BOTH, model = "gpt-4o",
    keys = {
      { "path", "string", "the program", class = "run",
        old = { "codex_path", "codex_cli_bin", "codex_bin" },
        env = { "CODEX_EXEC_PATH", "CODEX_CLI_BIN", "CODEX_PATH" } },
      { "sandbox", "string", "its sandbox", old = { "sandbox", "codex_sandbox" },
        env = { "CODEX_EXEC_SANDBOX", "CODEX_SANDBOX_MODE", "CODEX_SANDBOX" } },
      { "profile", "string", "its profile" },
      { "reasoning_effort", "string", "its reasoning effort" },
      { "use_sdk", "string", "through its library" },
      { "network_access", "boolean", "may it use the network" },
      { "web_search", "boolean", "may it search the web" },
      { "approval_policy", "string", "its approval policy" },
      { "full_auto", "boolean", "", retired = "the program has no such mode any more" },
    },
  },
  { name = "claude_chat", aliases = { "claude", "anthropic" }, label_for = BOTH,
    roles = BOTH, model = "claude-sonnet-4-6" },
  {
    name = "claude_code_exec", label_for = TARGET, roles = TARGET,
    model = "claude-sonnet-4-6",
    keys = {
      { "path", "string", "the program", class = "run" },
      { "profile", "string", "its profile" },
      { "use_sdk", "string", "through its library" },
      { "effort", "string", "its effort" },
      { "max_thinking_tokens", "integer", "its thinking budget" },
    },
  },
  {
    name = "cursor_exec", aliases = { "cursor", "cursor_agent" }, label_for = TARGET,
    roles = TARGET, model = "composer-2.5",
    keys = {
      { "path", "string", "the program", class = "run" },
      { "sandbox", "string", "its sandbox" },
    },
  },
  {
    name = "copilot_chat", aliases = { "copilot", "copilot_cli", "github_copilot" },
    label_for = BOTH, roles = BOTH, model = "gpt-4o",
    keys = {
      { "optimizer_model", "string", "model of the optimizer" },
      { "target_model", "string", "model of the target" },
      { "timeout", "integer", "seconds for one call", min = 1 },
    },
  },
  {
    name = "copilot_exec", label_for = TARGET, roles = TARGET, model = "gpt-4o",
    keys = {
      { "path", "string", "the program", class = "run" },
      { "home", "string", "its home folder", class = "run" },
      { "allow_all_tools", "boolean", "may it use all tools" },
    },
  },
  {
    name = "minimax_chat", aliases = { "minimax" }, label_for = TARGET, roles = BOTH,
    model = "MiniMax-M3", prefix = "minimax",
    keys = {
      { "region", "string", "region of the service", class = "run" },
      { "base_url", "url", "address of the service" },
      { "api_key", "secret", "key of the service" },
      { "model", "string", "model of the service" },
      { "temperature", "number", "`none` = not sent", min = 0, off = true },
      { "max_tokens", "integer", "most tokens of one reply", min = 1 },
      { "enable_thinking", "boolean", "whether the model thinks" },
    },
  },
}

M.by_name = {}
local by_word = {}
for _, backend in ipairs(M.list) do
  M.by_name[backend.name] = backend
  by_word[backend.name] = backend
  for _, alias in ipairs(backend.aliases or {}) do by_word[alias] = backend end
end

-- What the reference asks by default: names that a file need not mean.
local UNCHOSEN <const> = { ["gpt-5.4"] = true, ["gpt-5.5"] = true }

-- What takes their place, by role. The other back-ends keep the name.
local REPLACED <const> = {
  optimizer = { claude_chat = true, qwen_chat = true },
  target = { claude_chat = true, claude_code_exec = true, cursor_exec = true,
    qwen_chat = true, minimax_chat = true, copilot_exec = "" },
}

--- All words a back-end may be called by.
---@return string[]
function M.words()
  local words = {}
  for word in pairs(by_word) do words[#words + 1] = word end
  return words
end

--- The back-end meant by `word`, blanks around it and case not counting.
---@param word string
---@return table? backend
function M.find(word)
  return by_word[word:match "^%s*(.-)%s*$":lower()]
end

--- Names of the back-ends this version can use.
---@return string[]
function M.usable()
  local names = {}
  for _, backend in ipairs(M.list) do
    if backend.usable then names[#names + 1] = backend.name end
  end
  return names
end

--- Back-end names of the two roles under a label. A role the label says nothing about
--- is asked through `openai_chat`.
---@param label string canonical name of a back-end
---@return {optimizer: string, target: string}
function M.pair(label)
  local backend = M.by_name[label]
  local name = backend.means or backend.name
  return {
    optimizer = backend.label_for.optimizer and name or "openai_chat",
    target = backend.label_for.target and name or "openai_chat",
  }
end

--- The model a role asks instead of `model`, a name that a file of the reference may
--- carry without meaning it; nil when `model` stays.
---@param role "optimizer"|"target"
---@param backend string
---@param model string
---@return string?
function M.replacement(role, backend, model)
  local to = UNCHOSEN[model] and REPLACED[role][backend]
  if to == true then return M.by_name[backend].model end
  return to or nil
end

return M
