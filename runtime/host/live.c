/* live.c - see live.h. */
#include "host/live.h"
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MOST_ROWS = 32 };

/* Characters of the line that is out; 0: none is. Read by the signal handler. */
static volatile sig_atomic_t width;

static int columns(void)
{
    struct winsize size = { 0 };
    int ok = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return ok == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* A closed terminal is no reason to end; the line is then nowhere. */
static void put(const char *text, size_t n)
{
    while (n > 0) {
        ssize_t out = write(STDOUT_FILENO, text, n);
        if (out <= 0)
            return;
        text += out;
        n -= (size_t)out;
    }
}

/* The terminal may have become narrower since, and the line several rows. */
bool live_hide(void)
{
    static const char up[] = "\033[A", clear[] = "\r\033[J";
    if (width == 0)
        return false;
    int rows = ((int)width - 1) / columns();
    for (int i = 0; i < rows && i < MOST_ROWS; i++)
        put(up, sizeof up - 1);
    put(clear, sizeof clear - 1);
    width = 0;
    return true;
}

void live_show(const char *text, size_t n)
{
    live_hide();
    int count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    width = count; /* first: an interrupt in between clears it all */
    put(text, n);
}
