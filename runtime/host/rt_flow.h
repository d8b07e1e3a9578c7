/* rt_flow.h - rt.flow: time for the library, stopping, and deliberate disorder.
 *
 * A task that defers is set aside until no other can run; then one of those set
 * aside is woken, drawn by a seed. So answers that are all there come in another
 * order, and what must not depend on order can be shown not to. */
#pragma once
#include <stdbool.h>

/* Wake one deferred task; false when there is none. For the main loop. */
bool flow_wake_deferred(void);
