/* version.c - see version.h. The only file that is compiled with the commit. */
#include "host/version.h"

const char *version_number(void)
{
    return SKILLOPT_VERSION;
}

const char *version_commit(void)
{
    return SKILLOPT_COMMIT;
}
