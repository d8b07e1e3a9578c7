/* answer_time.h - the ways servers write times and amounts in headers. Pure. */
#pragma once

/* Seconds of "7", "0.5", "1s", "6m0s", "20ms", "1h2m", "7.66s."; -1 when it does not
 * begin with such a duration. */
double time_duration(const char *text);

/* A plain number of seconds or of things, or -1: no sign, no exponent. */
double time_number(const char *text);

/* Seconds since 1970 of "Tue, 03 Mar 2026 10:00:07 GMT", or -1. */
double time_http_date(const char *text);
