--- Where files are that a command line or a configuration names.
local test = require "skillopt.test"
local config_of = require "skillopt.config"
local place = require "skillopt.config.place"

local SHIPPED <const> = "/usr/share/skillopt/configs"

--- A configuration of files by path; the defaults are shipped.
local function settle(path, files, args)
  files[SHIPPED .. "/_base_/default.yaml"] = files[SHIPPED .. "/_base_/default.yaml"] or ""
  return assert(config_of.examine { file = path, args = args, cwd = "/work", configs = SHIPPED,
    read = function(name) return files[name] end })
end

test("a path is that of the working directory, else of the installed tree", function(t)
  t.equal(place.find "/nowhere/at/all", "/nowhere/at/all")
  t.equal(place.find "nowhere/at/all", "nowhere/at/all")
  t.equal(place.find "lua/skillopt/loader.lua", "lua/skillopt/loader.lua")
end)

test("a value knows whether a shipped file said it", function(t)
  local shipped = SHIPPED .. "/capitals/default.yaml"
  local text = "env:\n  split_dir: data/capitals\n"
  t.equal(settle(shipped, { [shipped] = text }):is_shipped "env.split_dir", true)
  t.equal(settle("mine.yaml", { ["mine.yaml"] = text }):is_shipped "env.split_dir", false)
  t.equal(settle("mine.yaml", { ["mine.yaml"] = "_base_: capitals/default.yaml\n",
    [shipped] = text }):is_shipped "env.split_dir", true)
  local said = { { name = "env.split_dir", value = "data/capitals", from = "env.split_dir" } }
  t.equal(settle(shipped, { [shipped] = text }, said):is_shipped "env.split_dir", false)
  t.equal(settle("mine.yaml", { ["mine.yaml"] = "" }):is_shipped "env.split_dir", false)
end)

test("only a path that a shipped file named is looked for in the installed tree", function(t)
  local function config(path, is_shipped)
    return { get = function() return path end, is_shipped = function() return is_shipped end }
  end
  t.equal(place.of(config("nowhere/at/all", true), "env.split_dir"), "nowhere/at/all")
  t.equal(place.of(config(nil, false), "env.split_dir"), nil)
  t.equal(place.of(config("lua", false), "env.split_dir"), "lua")
end)
