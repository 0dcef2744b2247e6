// Loads a library twice and calls it; its constructor calls the function too.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int sum = 0;
    for (int round = 0; round < 2 && argc > 1; round++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (!library) {
            puts(dlerror());
            return 1;
        }
        int (*work)(int) = (int (*)(int))dlsym(library, "plugin_work");
        for (int i = 0; i < 3; i++)
            sum = work(i);
        dlclose(library);
    }
    printf("sum %d\n", sum);
    return 0;
}
