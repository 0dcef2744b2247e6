/* Aborts in the library, for a reason that its caller knows. */
#include <stdlib.h>

static void fail(int reason)
{
    if (reason > 2)
        abort();
}

int main(void)
{
    for (int reason = 0; reason < 5; reason++)
        fail(reason);
    return 0;
}
