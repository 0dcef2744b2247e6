#include <assert.h>
#include <threads.h>
static mtx_t lock, recursive;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static int count, made, is_ready;

static void make(void) { made++; }

static int work(void *unused) {
    call_once(&once, make);
    mtx_lock(&lock);
    while (!is_ready)
        cnd_wait(&changed, &lock);
    count++;
    mtx_unlock(&lock);
    mtx_lock(&recursive);
    mtx_lock(&recursive);
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
    return unused == 0 ? 5 : 6;
}

int main(void) {
    thrd_t threads[2];
    mtx_init(&lock, mtx_plain);
    mtx_init(&recursive, mtx_plain | mtx_recursive);
    cnd_init(&changed);
    for (int i = 0; i < 2; i++)
        thrd_create(&threads[i], work, 0);
    mtx_lock(&lock);
    is_ready = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    for (int i = 0; i < 2; i++) {
        int result;
        thrd_join(threads[i], &result);
        assert(result == 5);
    }
    assert(count == 2 && made == 1);
    return 0;
}
