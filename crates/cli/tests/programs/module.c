// One of two libraries that are built from the same lines.
static int value;

__attribute__((noinline)) static void note(int n) {
    __asm__ volatile("");
    value += n;
}

__attribute__((visibility("default"))) int work(int n) {
    note(n);
#ifdef SECOND
    return 100;
#else
    return 1;
#endif
}

__attribute__((constructor)) static void arrive(void) { note(1); }

__attribute__((destructor)) static void leave(void) { note(-1); }
