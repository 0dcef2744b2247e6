// Calls of the kernel with a time-out that ends them: none of them is interrupted.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>

static void *poll_in_time(void *unused) {
    struct epoll_event event;
    assert(epoll_wait(epoll_create1(0), &event, 1, 600) == 0);
    return unused;
}

static void *receive_in_time(void *unused) {
    int pair[2];
    char byte;
    struct timeval time = {0, 600000};
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    assert(recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, poll_in_time, 0);
    pthread_create(&threads[1], 0, receive_in_time, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
