//! A program whose threads work until somebody ends it.

/// Three threads call `work` and `other` until the input ends, with a pause where
/// there is an argument. The program counts what they do, and says at its end
/// whether it did it right.
pub const WORKERS: &str = r#"
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <time.h>
    #include <unistd.h>
    static volatile int done;
    volatile long total;
    __attribute__((noinline)) void work(volatile long *count) { ++*count; }
    __attribute__((noinline)) void other(void) { __asm__ volatile(""); }
    static void *run(void *slowly) {
        volatile long count = 0;
        while (!done) {
            struct timespec pause = {0, 200000};
            if (slowly) nanosleep(&pause, 0);
            work(&count);
            other();
            __atomic_add_fetch(&total, 1, __ATOMIC_SEQ_CST);
        }
        return (void *)count;
    }
    int main(int argc, char **argv) {
        pthread_t others[3];
        for (int i = 0; i < 3; i++) pthread_create(&others[i], 0, run, argc > 1 ? argv[1] : 0);
        puts("ready");
        fflush(stdout);
        char byte;
        while (read(0, &byte, 1) == 1) {}
        done = 1;
        long sum = 0;
        for (int i = 0; i < 3; i++) {
            void *count;
            pthread_join(others[i], &count);
            sum += (long)count;
        }
        puts(sum == total ? "right" : "wrong");
        return 7;
    }"#;
