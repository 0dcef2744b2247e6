// Names that libc uses for variables of its own.
#include <stdlib.h>

int initial = 42, lock = 43, leaf = 44, state = 45;

int main(void) {
    if (initial + lock + leaf + state)
        abort();
    return 0;
}
