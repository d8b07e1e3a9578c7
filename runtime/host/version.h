/* version.h - what this program is. */
#pragma once

/* "0.1.0" */
const char *version_number(void);

/* Commit the binary was built from, "unknown" outside of a checkout. */
const char *version_commit(void);
