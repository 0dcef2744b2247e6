#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct order {
    int number;
    const char *customer;
    struct order *next;
};

struct order second = {2, "Ben", NULL};
struct order first = {1, "Ann", &second};
int served;

static void serve(struct order *order) {
    served = order->number;
}

static void *serve_all(void *orders) {
    for (struct order *order = orders;; order = order->next)
        serve(order);
}

static void *wait(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(void) {
    pthread_t waiter, server;
    pthread_create(&waiter, NULL, wait, NULL);
    usleep(20000);
    pthread_create(&server, NULL, serve_all, &first);
    return pthread_join(server, NULL);
}
