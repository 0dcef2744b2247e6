// Prints what the kernel tells it: numbers, times, random bytes, a file, its standard input.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int spoiled(int value) { return value * 2; }

int main(int argc, char **argv) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    printf("process %d, time %ld.%09ld\n", getpid(), (long)now.tv_sec, now.tv_nsec);
    unsigned char bytes[8];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return 2;
    int sum = 0;
    for (unsigned i = 0; i < sizeof bytes; i++)
        sum += bytes[i];
    char line[100] = "";
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (file != NULL && fgets(line, sizeof line, file) == NULL)
        return 2;
    printf("sum %d, file %s", spoiled(sum), line);
    struct stat status;
    if (file != NULL && fstat(fileno(file), &status) == 0)
        printf("%ld bytes, changed at %ld\n", (long)status.st_size, (long)status.st_mtim.tv_nsec);
    while (fgets(line, sizeof line, stdin) != NULL)
        printf("input %s", line);
    void *block = malloc(1 << 20);
    printf("%p %p\n", block, (void *)&now);
    return sum % 7;
}
