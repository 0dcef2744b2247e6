/* Keeps state in all places that a checkpoint keeps: a variable, a file, a pipe,
 * shared memory. Each step is one more of each. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int count;
static int ends[2];
static int *shared;
static FILE *lines;

__attribute__((noinline)) void take_step(int number) {
    count += number;
    ++*shared;
    fprintf(lines, "%d\n", number);
    fflush(lines);
    if (write(ends[1], "x", 1) != 1) abort();
}

int main(int argc, char **argv) {
    int steps = argc > 2 ? atoi(argv[2]) : 5;
    lines = fopen(argv[1], "w");
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!lines || shared == MAP_FAILED || pipe(ends)) abort();
    for (int number = 1; number <= steps; number++) take_step(number);
    close(ends[1]);
    char bytes[64];
    long waiting = read(ends[0], bytes, sizeof bytes);
    printf("count %d shared %d pipe %ld file %ld\n", count, *shared, waiting, ftell(lines));
    return 0;
}
