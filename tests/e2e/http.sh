#!/bin/sh
# http.sh BUILD - rt.http and rt.model against the stub.
set -u
. tests/stub/stub.sh
if ! stub_start "$1" --script tests/stub/scripts/echo.lua --key sk-e2e-key; then
  echo "FAIL - the stub starts"
  exit 1
fi
SKILLOPT_TEST_URL=$stub_url "$1/skillopt" test tests/e2e/http
code=$?
stub_stop
exit $code
