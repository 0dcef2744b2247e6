#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t ticks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void tick(int signal) {
    (void)signal;
    ticks++;
}

static void *work(void *unused) {
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *await(void *unused) {
    int timer = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec in = {{0, 0}, {0, 1000000}};
    timerfd_settime(timer, 0, &in, 0);
    unsigned long long expired = 0;
    while (read(timer, &expired, sizeof expired) != sizeof expired)
        ;
    assert(expired >= 1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, 0);
    struct itimerval in = {{0, 1000}, {0, 500}};
    setitimer(ITIMER_REAL, &in, 0);
    pthread_create(&threads[0], 0, work, 0);
    pthread_create(&threads[1], 0, await, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(count == 5);
    return 0;
}
