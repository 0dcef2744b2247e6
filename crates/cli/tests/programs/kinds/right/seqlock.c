// Readers look again if a writer was there meanwhile.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint sequence;
static atomic_int low, high;

static void *change(void *unused) {
    for (int i = 1; i <= 2; i++) {
        atomic_fetch_add(&sequence, 1);
        atomic_store(&low, i);
        atomic_store(&high, i);
        atomic_fetch_add(&sequence, 1);
    }
    return unused;
}

static void *look(void *unused) {
    unsigned before;
    int seen_low, seen_high;
    do {
        while ((before = atomic_load(&sequence)) % 2 == 1)
            ;
        seen_low = atomic_load(&low);
        seen_high = atomic_load(&high);
    } while (atomic_load(&sequence) != before);
    assert(seen_low == seen_high);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, i ? look : change, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
