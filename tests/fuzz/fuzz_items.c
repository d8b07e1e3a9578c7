/* Files of items, read as a run reads them: see items.lua. */
#include "lua_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    target_run("tests/fuzz/items.lua", data, n);
    return 0;
}
