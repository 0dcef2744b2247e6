#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
static int ends[2], pair[2], counter, results[2];

static void *write_all(void *unused) {
    for (char i = 0; i < 3; i++)
        assert(write(ends[1], &i, 1) == 1);
    char byte = 9;
    assert(send(pair[0], &byte, 1, 0) == 1);
    assert(recv(pair[0], &byte, 1, 0) == 1 && byte == 10);
    unsigned long long one = 1;
    assert(write(counter, &one, 8) == 8);
    return unused;
}

static void *read_all(void *unused) {
    struct pollfd fd = {ends[0], POLLIN, 0};
    assert(poll(&fd, 1, -1) == 1);
    for (char i = 0; i < 3; i++) {
        char byte;
        assert(read(ends[0], &byte, 1) == 1 && byte == i);
    }
    char byte;
    assert(recv(pair[1], &byte, 1, 0) == 1 && byte == 9);
    byte++;
    assert(send(pair[1], &byte, 1, 0) == 1);
    return unused;
}

static void *watch(void *unused) {
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(set, EPOLL_CTL_ADD, counter, &event);
    assert(epoll_wait(set, &event, 1, -1) == 1);
    unsigned long long count;
    assert(read(counter, &count, 8) == 8 && count == 1);
    results[0] = 1;
    return unused;
}

int main(void) {
    pthread_t threads[3];
    assert(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    counter = eventfd(0, 0);
    pthread_create(&threads[0], 0, write_all, 0);
    pthread_create(&threads[1], 0, read_all, 0);
    pthread_create(&threads[2], 0, watch, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(results[0] == 1);
    return 0;
}
