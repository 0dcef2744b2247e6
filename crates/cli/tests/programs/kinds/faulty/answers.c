// Two threads add each other's number to their own; the last sum is reached only if each answers the
// other at once, each time.
#include <assert.h>
#include <pthread.h>

#ifndef COUNT
#define COUNT 4
#endif
static volatile int left = 1, right = 1;

static void *add_right(void *unused) {
    for (int i = 0; i < COUNT; i++)
        left += right;
    return unused;
}

static void *add_left(void *unused) {
    for (int i = 0; i < COUNT; i++)
        right += left;
    return unused;
}

static int fibonacci(int n) {
    int number = 0, next = 1;
    while (n-- > 0) {
        int sum = number + next;
        number = next;
        next = sum;
    }
    return number;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, add_right, 0);
    pthread_create(&threads[1], 0, add_left, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    int most = fibonacci(2 * COUNT + 2);
    assert(left < most && right < most);
    return 0;
}
