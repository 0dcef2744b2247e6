/* Functions whose first instruction is reached by other ways than their calls, or by the calls
 * of others. The program counts the calls where the source has them. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct thing { int count; int kind; char name[20]; };
struct node { struct node *next; int value; };

static long twin, other, lifted, raised, outer, outside, waits, spins, walks, counted, halved, locks;

/* Equal bodies. */
#define BODY \
    { \
        if (--it->count == 0) { \
            printf("gone %d %s\n", it->kind, it->name); \
            return it->kind * 3; \
        } \
        return it->count; \
    }
static __attribute__((noinline)) int put_twin(struct thing *it) BODY
static __attribute__((noinline)) int put_other(struct thing *it) BODY

/* Equal bodies, of which a clone is made. */
static __attribute__((noinline)) int put_lifted(int *at, int n) { return *at * 3 + n; }
static __attribute__((noinline)) int put_raised(int *at, int n) { return *at * 3 + n; }

/* Equal bodies of functions that other files could name. */
#define LONG_BODY \
    { \
        int sum = 0; \
        for (int i = 0; i < 20; i++) { \
            if (it->name[i] == 'a') \
                sum += printf("a %d\n", i); \
            else if (it->name[i] == 'b') \
                sum -= printf("b %d\n", sum); \
        } \
        return sum + --it->count; \
    }
__attribute__((noinline)) int put_outer(struct thing *it) LONG_BODY
__attribute__((noinline)) int put_outside(struct thing *it) LONG_BODY
int (*const table[2])(struct thing *) = {put_outer, put_outside};

/* Two names of one function. */
__attribute__((noinline)) int named(int n) { return n * 7 + (n & 3); }
int named_again(int n) __attribute__((alias("named")));

/* Loops that begin with the function. */
__attribute__((noinline)) void wait_zero(volatile long *at) { while ((*at)--) ; }
__attribute__((noinline)) void spin_down(volatile int *at)
{
    do {
        *at -= 1;
    } while (*at);
}
__attribute__((noinline)) struct node *walk_to_end(struct node *at)
{
    while (at->next)
        at = at->next;
    return at;
}

/* Calls of themselves that the compiler may make loops of. */
static __attribute__((noinline)) int count_from(struct node *at, int sum)
{
    counted++;
    if (!at)
        return sum;
    return count_from(at->next, sum + at->value);
}
__attribute__((noinline)) int half_of(int n)
{
    halved++;
    return n < 2 ? n : half_of(n / 2) + half_of(n / 2 - 1);
}

static pthread_spinlock_t lock;
static volatile long inside;
static void *locker(void *unused)
{
    for (int i = 0; i < 10; i++) {
        pthread_spin_lock(&lock);
        locks++;
        for (inside = 0; inside < 3000; inside++)
            ;
        pthread_spin_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    struct thing a = {argc + 4, 1, "ab"}, b = {argc + 3, 2, "ba"};
    struct node last = {0, argc}, second = {&last, 2}, first = {&second, 1};
    pthread_t threads[2];
    int sum = 0;
    (void)argv;
    for (int i = 0; i < 4; i++, twin++)
        sum += put_twin(&a);
    other++, sum += put_other(&b);
    for (int i = 0; i < 3; i++, lifted++)
        sum += put_lifted(&a.count, i);
    raised++, sum += put_raised(&b.count, sum);
    for (int i = 0; i < 3; i++, outer++)
        sum += put_outer(&a);
    outside += 2, sum += put_outside(&b) + table[argc & 1](&b);
    for (int i = 0; i < 5; i++) {
        volatile long zero = 20;
        volatile int down = 7;
        waits++, wait_zero(&zero);
        spins++, spin_down(&down);
        walks++, sum += walk_to_end(&first)->value;
    }
    sum += count_from(&first, argc) + half_of(argc + 16);
    sum += named(argc) + named_again(argc + 1);
    pthread_spin_init(&lock, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, locker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    printf("twin %ld other %ld outer %ld outside %ld waits %ld spins %ld walks %ld\n", twin, other,
           outer, outside, waits, spins, walks);
    printf("lifted %ld raised %ld\n", lifted, raised);
    printf("counted %ld halved %ld locks %ld named 2 sum %d\n", counted, halved, locks, sum);
    return 0;
}
