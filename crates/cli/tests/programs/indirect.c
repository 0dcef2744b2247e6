// Calls a function of which the C library has one for each kind of processor.
// Prints how often it was called and what it returned in all.
#include <stdio.h>
#include <string.h>

static size_t (*volatile length)(const char *) = strlen;

int main(void) {
    static const char *const words[] = {"a", "bc", "def", ""};
    unsigned calls = 0, total = 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        total += length(words[i]);
        calls++;
    }
    printf("calls %u total %u\n", calls, total);
    return 0;
}
