/* Three threads with known values. The first waits for the third, the second sleeps, the third
   writes to an address that is not mapped.

   crashes           the crash
   crashes FILTER    the same, with this coredump_filter
   crashes - FILE    the same, with this file mapped and written to, shared */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef OTHER
int before_all[3000] = {1};
#endif

struct point {
    int x;
    double y;
    const char *name;
};

const char *const words[] = {"first", "second"};
int counter = 41;
struct point shared = {7, 2.5, "shared point"};
char zeros[1 << 14];
char *mapped = "";
__thread int own;

static volatile int asleep;
static long *const nowhere = (long *)16;

__attribute__((noinline)) void leaf(int depth, long *target) {
    long local = depth * 100 + own;
    *target = local;
}

__attribute__((noinline)) void middle(int depth, long *target) {
    char buffer[32];
    snprintf(buffer, sizeof buffer, "depth %d", depth);
    leaf(depth + 1, target);
    counter += buffer[0];
}

void *crasher(void *unused) {
    own = 3;
    middle(1, nowhere);
    return unused;
}

void *sleeper(void *unused) {
    own = 2;
    asleep = 1;
    for (;;)
        pause();
    return unused;
}

static void filter(const char *mask) {
    FILE *file = fopen("/proc/self/coredump_filter", "w");
    if (!file || fputs(mask, file) < 0 || fclose(file))
        perror("coredump_filter");
}

static void map(const char *path) {
    int file = open(path, O_RDWR);
    void *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (start == MAP_FAILED)
        perror(path);
    else
        mapped = strcpy(start, "mapped text");
}

int main(int argc, char **argv) {
    pthread_t threads[2];
    own = 1;
    if (argc > 2)
        map(argv[2]);
    else if (argc > 1)
        filter(argv[1]);
    counter++;
    pthread_create(&threads[0], NULL, sleeper, NULL);
    while (!asleep)
        usleep(1000);
    pthread_create(&threads[1], NULL, crasher, NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
