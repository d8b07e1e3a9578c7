/* Configuration from files, variables and arguments: see config.lua. */
#include "lua_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    target_run("tests/fuzz/config.lua", data, n);
    return 0;
}
