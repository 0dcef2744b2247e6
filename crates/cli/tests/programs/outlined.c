/* A function of which gcc copies the beginning into its callers, and calls the rest: in
   `move` it is come to by the copy's beginning and without it. Prints how often `take`
   was called, and how often it had something to do. */
#include <stdio.h>

struct row { int count; int cells[100]; };
static int called, done;

static void take(struct row *row, int at, int *failed) {
    if (*failed) return;
    done++;
    for (int i = 0; i < 40; i++) row->cells[i] += printf("%s", "") + at;
    for (int i = 0; i < 40; i++) row->cells[i] *= printf("%s", "") + at + i;
    for (int i = 0; i < 40; i++) row->cells[i] ^= printf("%s", "") - at;
    for (int i = 0; i < 40; i++) row->cells[i] %= printf("%s", "") + at + 1;
    if (row->count < at) *failed = 5;
    row->count--;
}

__attribute__((noinline)) static int fails(int at) { return at % 3 == 1; }

__attribute__((noinline)) static int move(struct row *row, int at) {
    int failed = 0;
    called++;
    if (at & 4) {
        failed = fails(at);
        row->cells[97] += at;
    } else {
        row->cells[99] += at;
    }
    take(row, at, &failed);
    if (failed) return failed;
    row->cells[98]++;
    return 0;
}

__attribute__((noinline)) static void ask(struct row *row, int at, int *failed) {
    called++;
    take(row, at, failed);
}

int main(void) {
    static struct row row = {.count = 100};
    int failed = 0;
    for (int at = 0; at < 16; at++) failed += move(&row, at);
    for (int at = 0; at < 4; at++) {
        failed = at & 1;
        ask(&row, at, &failed);
    }
    printf("called %d, done %d\n", called, done);
    return 0;
}
