/* Two threads wait for each other; a third one says so when both do. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static volatile long transferring, auditing;

static void *transfer(void *unused)
{
    pthread_mutex_lock(&accounts);
    transferring = syscall(SYS_gettid);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&journal);
    return unused;
}

static void *audit(void *unused)
{
    pthread_mutex_lock(&journal);
    auditing = syscall(SYS_gettid);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&accounts);
    return unused;
}

static int waits(long thread, void *lock)
{
    char name[64];
    long number = -1;
    unsigned long address = 0;
    snprintf(name, sizeof name, "/proc/self/task/%ld/syscall", thread);
    FILE *file = fopen(name, "r");
    if (file == NULL)
        return 0;
    int count = fscanf(file, "%ld %lx", &number, &address);
    fclose(file);
    return count == 2 && number == SYS_futex && address == (unsigned long)lock;
}

static void hanging(void)
{
    puts("both wait");
    exit(7);
}

int main(void)
{
    pthread_t first, second;
    pthread_barrier_init(&both, NULL, 3);
    pthread_create(&first, NULL, transfer, NULL);
    pthread_create(&second, NULL, audit, NULL);
    pthread_barrier_wait(&both);
    while (!waits(transferring, &journal) || !waits(auditing, &accounts))
        usleep(1000);
    hanging();
    return 0;
}
