// Two threads that answer each other's messages; the first message is not sent if its sender is early.
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>

static mqd_t there, back;
static volatile int has_begun;

static void *answer(void *unused) {
    char message[8];
    has_begun = 1;
    mq_receive(there, message, sizeof message, 0);
    mq_send(back, message, 1, 0);
    return unused;
}

static void *ask(void *unused) {
    char message[8] = "?";
    if (has_begun)
        mq_send(there, message, 1, 0);
    mq_receive(back, message, sizeof message, 0);
    return unused;
}

int main(void) {
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
    pthread_t threads[2];
    there = mq_open("/kinds-there", O_CREAT | O_RDWR, 0600, &attributes);
    back = mq_open("/kinds-back", O_CREAT | O_RDWR, 0600, &attributes);
    if (there < 0 || back < 0)
        return 1;
    pthread_create(&threads[0], 0, answer, 0);
    pthread_create(&threads[1], 0, ask, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
