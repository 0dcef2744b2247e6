/* A mapping of 4 TiB that nothing touches: a core file of it takes long, and no room. */
#include <stdio.h>
#include <sys/mman.h>

static void reached(void *mapping)
{
    printf("%s\n", mapping == MAP_FAILED ? "no mapping" : "mapped");
}

int main(void)
{
    void *mapping = mmap(NULL, 1UL << 42, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    reached(mapping);
    return mapping == MAP_FAILED;
}
