#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static pthread_spinlock_t spin;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static atomic_uint next_ticket, serving;
static int one, two, three;

static void *work(void *unused) {
    pthread_spin_lock(&spin);
    one++;
    pthread_spin_unlock(&spin);
    while (atomic_flag_test_and_set(&flag))
        ;
    two++;
    atomic_flag_clear(&flag);
    unsigned mine = atomic_fetch_add(&next_ticket, 1);
    while (atomic_load(&serving) != mine)
        __builtin_ia32_pause();
    three++;
    atomic_store(&serving, mine + 1);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_spin_init(&spin, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(one == 3 && two == 3 && three == 3);
    return 0;
}
