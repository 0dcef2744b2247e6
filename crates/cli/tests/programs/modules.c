// Loads, calls and unloads two libraries as its first argument says: `A` loads
// the first, `1` calls it, `a` unloads it; `B`, `2` and `b` are for the second;
// `p` calls `pause_here`.
#include <dlfcn.h>
#include <stdio.h>

static int early_calls;

__attribute__((constructor)) static void early(void) {
    __asm__ volatile("");
    early_calls++;
}

__attribute__((noinline)) static void pause_here(void) { __asm__ volatile(""); }

int main(int argc, char **argv) {
    void *libraries[2] = {0, 0};
    int sum = 0;
    for (const char *step = argv[1]; argc > 3 && *step; step++) {
        int which = *step == 'B' || *step == 'b' || *step == '2';
        void **library = &libraries[which];
        switch (*step) {
        case 'A':
        case 'B':
            *library = dlopen(argv[2 + which], RTLD_NOW);
            if (!*library) {
                puts(dlerror());
                return 1;
            }
            break;
        case 'a':
        case 'b':
            dlclose(*library);
            break;
        case 'p':
            pause_here();
            break;
        default:
            sum += ((int (*)(int))dlsym(*library, "work"))(1);
        }
    }
    printf("sum %d early %d\n", sum, early_calls);
    return 0;
}
