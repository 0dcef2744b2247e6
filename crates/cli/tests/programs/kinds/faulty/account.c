// A deposit reads the balance in one critical section, and writes it in another.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100, movements;

static int read_balance(void) {
    pthread_mutex_lock(&lock);
    int value = balance;
    pthread_mutex_unlock(&lock);
    return value;
}

static void write_balance(int value) {
    pthread_mutex_lock(&lock);
    balance = value;
    movements++;
    pthread_mutex_unlock(&lock);
}

static void *deposit(void *amount) {
    write_balance(read_balance() + *(int *)amount);
    return 0;
}

static void *withdraw(void *amount) {
    write_balance(read_balance() - *(int *)amount);
    return 0;
}

static void *audit(void *unused) {
    pthread_mutex_lock(&lock);
    assert(movements < 2 || balance == 90);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    int thirty = 30, forty = 40;
    pthread_t threads[3];
    pthread_create(&threads[0], 0, deposit, &thirty);
    pthread_create(&threads[1], 0, withdraw, &forty);
    pthread_create(&threads[2], 0, audit, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
