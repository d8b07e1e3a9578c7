--- What `require "skillopt"` gives: the words in which environments and experiments are
--- written.
return {
  env = require("skillopt.env").define,
  experiment = require("skillopt.experiment").define,
}
