/* Moves money between two accounts, each with a lock of its own.
 *
 * As it stands the two threads take the locks in opposite orders: they can
 * wait for each other for ever, though in this run they never do.
 * -DFIXED takes them in one order, -DGATE takes a third lock around both,
 * -DSINGLE does it all in one thread; -DTOGETHER and -DGATE=2 run both at once. */
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account alice = {PTHREAD_MUTEX_INITIALIZER, 100};
static struct account bob = {PTHREAD_MUTEX_INITIALIZER, 100};

#ifdef GATE
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
#endif

static void move(struct account *from, struct account *to, long amount)
{
    struct account *first = from;
    struct account *second = to;

#ifdef FIXED
    if (first > second) {
        first = to;
        second = from;
    }
#endif
#ifdef GATE
    pthread_mutex_lock(&gate);
#endif
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
#ifdef GATE
    pthread_mutex_unlock(&gate);
#endif
}

static void *pay_bob(void *unused)
{
    for (int i = 0; i < 3; i++)
        move(&alice, &bob, 10);
    return unused;
}

static void *pay_alice(void *unused)
{
    for (int i = 0; i < 2; i++)
        move(&bob, &alice, 10);
    return unused;
}

int main(void)
{
#ifdef SINGLE
    pay_bob(NULL);
    pay_alice(NULL);
#else
    pthread_t thread;

#if defined TOGETHER || defined GATE && GATE == 2
    pthread_t other;

    if (pthread_create(&thread, NULL, pay_bob, NULL) != 0
        || pthread_create(&other, NULL, pay_alice, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
#else
    /* One after the other, so that this run always ends. */
    if (pthread_create(&thread, NULL, pay_bob, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    if (pthread_create(&thread, NULL, pay_alice, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
#endif
#endif
    printf("alice %ld, bob %ld\n", alice.balance, bob.balance);
    return 0;
}
