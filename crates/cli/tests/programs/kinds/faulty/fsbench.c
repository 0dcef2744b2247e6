// Files look for a free block; two of them have the same one in view, and only one looks again.
#include <assert.h>
#include <pthread.h>

enum { BLOCKS = 6, INODES = 8, THREADS = 9 };
static pthread_mutex_t inode_locks[INODES], block_locks[BLOCKS];
static int block_of[INODES], is_busy[BLOCKS];

static void *create(void *argument) {
    int inode = (int)(long)argument % INODES;
    pthread_mutex_lock(&inode_locks[inode]);
    if (block_of[inode] == 0) {
        int block = (inode * 2) % BLOCKS;
        for (int tried = 0; tried < BLOCKS; tried++) {
            if (!is_busy[block]) {
                pthread_mutex_lock(&block_locks[block]);
                assert(!is_busy[block]);
                is_busy[block] = 1;
                block_of[inode] = block + 1;
                pthread_mutex_unlock(&block_locks[block]);
                break;
            }
            block = (block + 1) % BLOCKS;
        }
    }
    pthread_mutex_unlock(&inode_locks[inode]);
    return 0;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < INODES; i++)
        pthread_mutex_init(&inode_locks[i], 0);
    for (int i = 0; i < BLOCKS; i++)
        pthread_mutex_init(&block_locks[i], 0);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, create, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
