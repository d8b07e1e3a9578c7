--- What `require "skillopt"` gives: the words in which environments and experiments are
--- written, and one message to a model for scripts.
return {
  env = require("skillopt.env").define,
  experiment = require("skillopt.experiment").define,
  chat = function(opt) return require("skillopt.message").ask(opt) end,
}
