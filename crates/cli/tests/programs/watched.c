/* Memory that is written in every way; ends with 0 when all went well. */
#include <fcntl.h>
#include <stdio.h>

struct pair {
    int first;
    int second;
};

int stored, table[8], left, right;
struct pair pair, *where = &pair;

int fill(int limit) {
    int sum = 0;
    for (int i = 1; i <= limit; i++)
        sum += i;
    return sum;
}

void store(int value) {
    stored = value;
    left = value;
    right = -value;
}

/* Its own system call: no C library between. */
long read_into(int file, void *to, unsigned long count) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(0L), "D"((long)file), "S"(to), "d"(count)
                     : "rcx", "r11", "memory");
    return result;
}

int main(void) {
    int zero = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < 100; i++)
        store(i / 11);
    where->first = 7;
    table[3] = 9;
    if (read_into(zero, &stored, sizeof stored) != sizeof stored)
        return 1;
    pair.second = fill(3);
    printf("%d %d\n", stored, left + right);
    return pair.second != 6;
}
