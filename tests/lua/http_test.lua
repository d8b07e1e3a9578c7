--- rt.http without a server; with one: tests/e2e/http.sh.
local test = require "skillopt.test"
local flow = require "rt.flow"
local http = require "rt.http"
local task = require "skillopt.task"

-- Port 1 of this machine: nothing listens there.
local NOWHERE <const> = "http://127.0.0.1:1/v1?key=secret"

test("http.request says which server cannot be reached, and nothing of the path", function(t)
  local answer, err = http.request { url = NOWHERE, body = "x" }
  t.equal(answer, nil)
  t.equal(err.kind, "network")
  t.equal(err.retry, true)
  t.equal(err.message, "cannot connect to http://127.0.0.1:1: Connection refused")
  t.equal(err.hint, "is a server listening at http://127.0.0.1:1?")
end)

test("http.request refuses an address that is none", function(t)
  for _, url in ipairs { "", "localhost:8000", "ftp://h/", "http://a b/" } do
    local answer, err = http.request { url = url }
    t.equal(answer, nil)
    t.equal(err.kind, "config")
  end
end)

test("http.request raises for misuse before anything is sent", function(t)
  local function raises(request, piece)
    t.raises(function() http.request(request) end, piece)
  end
  raises({}, "option 'url' is missing")
  raises({ url = NOWHERE, timeuot_s = 1 }, "did you mean 'timeout_s'?")
  raises({ url = NOWHERE, timeout_s = -1 }, "timeout_s")
  raises({ url = NOWHERE, headers = { A = "x\r\nB: y" } }, "is not a line 'Name: value'")
  raises({ url = NOWHERE, headers = { A = "x\0y" } }, "zero byte")
  raises({ url = NOWHERE, headers = { A = 1 } }, "headers are names with texts")
  raises({ url = NOWHERE, method = "GET /" }, "the method is not a word")
  raises({ url = NOWHERE, into = {} }, "option 'into' must be a stream parser")
  t.equal(http.in_flight(), 0)
end)

test("http.request of many tasks all end", function(t)
  local places = {}
  for i = 1, 300 do places[i] = i end
  local kinds = task.map(places, function()
    local _, err = http.request { url = NOWHERE }
    return err.kind
  end)
  for i = 1, 300 do t.equal(kinds[i], "network") end
  t.equal(http.in_flight(), 0)
end)

test("http.request is ended by the task's cancellation", function(t)
  local started = flow.now()
  t.raises(function()
    task.map({ 1, 2 }, function(i)
      -- An address of a network for documentation: nobody answers.
      if i == 2 then http.request { url = "http://192.0.2.1/", connect_timeout_s = 60 } end
      flow.sleep(0.05)
      error "stop"
    end)
  end, "stop")
  t.equal(http.in_flight(), 0)
  t.ok(flow.now() - started < 30)
end)
