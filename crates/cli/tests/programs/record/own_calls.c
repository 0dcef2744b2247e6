// Calls that are noted in the process: many of them, in two threads in turn, with signals and a child
// meanwhile.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long rung;
static volatile unsigned long sum;

static void ring(int signal) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    rung++;
    sum += now.tv_nsec % 7;
}

static void ask(int count, int file) {
    for (int i = 0; i < count; i++) {
        struct timespec now;
        struct stat status;
        char bytes[40];
        clock_gettime(CLOCK_REALTIME, &now);
        sum = sum * 31 + now.tv_nsec;
        if (pread(file, bytes, sizeof bytes, i % 100) > 0) sum += bytes[i % 40];
        if (fstat(file, &status) == 0) sum += status.st_size + getppid();
    }
}

static void *turn(void *file) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        ask(20, *(int *)file);
        pthread_mutex_unlock(&lock);
        usleep(100);
    }
    return NULL;
}

// A descriptor that led to a file leads to a pipe then.
static void replace(int file) {
    int ends[2];
    char byte = 0;
    if (pipe(ends) || dup2(ends[0], file) < 0) exit(2);
    if (write(ends[1], "p", 1) != 1 || read(file, &byte, 1) != 1) exit(3);
    printf("from the pipe %c\n", byte);
}

static void make_child(int file) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ask(50, file);
        _exit(7);
    }
    int status;
    waitpid(child, &status, 0);
    printf("child %d, command %d\n", WEXITSTATUS(status), WEXITSTATUS(system("exit 4")));
}

int main(int count, char **arguments) {
    int file = open(arguments[0], O_RDONLY);
    struct sigaction action = {.sa_handler = ring};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval time = {{0, 2000}, {0, 2000}};
    setitimer(ITIMER_REAL, &time, NULL);
    ask(500, file);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, turn, &file);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    struct itimerval never = {{0}};
    setitimer(ITIMER_REAL, &never, NULL);
    make_child(file);
    ask(100, file);
    replace(file);
    printf("%s, missing %d, rung %ld, sum %lx\n", getcwd(NULL, 0) ? "there" : "lost",
           access("/no/such/file", R_OK) ? errno : 0, rung, sum);
    return 0;
}
