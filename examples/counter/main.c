/* Two clients ask a server for the next number, and hand over how much it
 * shall count on. The server answers with what was asked and the number.
 *
 * After the client and server of Stolz and Huch, "Runtime Verification of
 * Concurrent Haskell Programs" (2005), section 2. There is one place for
 * answers, so a client may take the other's. -DFIXED gives each request a
 * place for its own answer. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#define ROUNDS 2000

struct answer {
    int request;
    long number;
};

/* A place for one thing: who puts waits until it is empty, who takes waits
   until it is full. */
struct place {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool full;
    struct answer content;
    struct place *reply;
};

#define PLACE {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, {0, 0}, NULL}

static struct place requests = PLACE;
static struct place answers = PLACE;

static void put(struct place *place, struct answer content, struct place *reply)
{
    pthread_mutex_lock(&place->lock);
    while (place->full)
        pthread_cond_wait(&place->changed, &place->lock);
    place->content = content;
    place->reply = reply;
    place->full = true;
    pthread_cond_broadcast(&place->changed);
    pthread_mutex_unlock(&place->lock);
}

static struct answer take(struct place *place, struct place **reply)
{
    struct answer content;

    pthread_mutex_lock(&place->lock);
    while (!place->full)
        pthread_cond_wait(&place->changed, &place->lock);
    content = place->content;
    if (reply != NULL)
        *reply = place->reply;
    place->full = false;
    pthread_cond_broadcast(&place->changed);
    pthread_mutex_unlock(&place->lock);
    return content;
}

/* A client has an answer: here the property looks. */
__attribute__((noinline)) void client_received(int asked, int answered)
{
    __asm__ volatile("" : : "r"(asked), "r"(answered));
}

static void *client(void *argument)
{
    int asked = *(int *)argument;
#ifdef FIXED
    struct place own = PLACE;
    struct place *reply = &own;
#else
    struct place *reply = &answers;
#endif

    for (int i = 0; i < ROUNDS; i++) {
        put(&requests, (struct answer){asked, 0}, reply);
        struct answer answer = take(reply, NULL);
        client_received(asked, answer.request);
    }
    return NULL;
}

int main(void)
{
    int asked[2] = {0, 1};
    pthread_t threads[2];
    long number = 0;

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, client, &asked[i]) != 0)
            return 1;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        struct place *reply = NULL;
        struct answer request = take(&requests, &reply);

        put(reply, (struct answer){request.request, number}, reply);
        number += request.request;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("counted to %ld\n", number);
    return 0;
}
