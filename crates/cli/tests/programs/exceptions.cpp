// Calls that end by an exception or by a return.
#include <cstdio>

static long entered, returned;

__attribute__((noinline)) int work(int n) {
    entered++;
    if (n % 2)
        throw n;
    __asm__ volatile("");
    returned++;
    return n;
}

__attribute__((noinline)) int outer(int n) {
    struct Guard {
        ~Guard() { __asm__ volatile(""); }
    } guard;
    int result = work(n);
    __asm__ volatile("" : "+r"(result));
    return result;
}

int main() {
    int total = 0;
    for (int i = 0; i < 6; i++) {
        try {
            total += outer(i);
        } catch (int n) {
            total -= n;
        }
    }
    std::printf("entered %ld returned %ld total %d\n", entered, returned, total);
}
