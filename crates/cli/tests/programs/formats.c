// Numbers in formats that not every compiler has.
#include <immintrin.h>

__float128 quad = 1.25Q;
long double pi = 3.14159265358979323846L, huge = 1e4000L;
_Decimal32 d32 = 1.5DF;
_Decimal64 d64 = -12.25DD;
_Decimal128 d128 = 3.14DL;
int _Complex whole = 3 + 4i;
float _Complex fraction = 1.5f + 2i;
typedef int four __attribute__((vector_size(16)));
typedef unsigned long size;
typedef struct part {
    int value;
} *part_pointer;
four a = {1, 2, 3, 4}, b = {1, 5, 3, 0};
struct part part = {5};
part_pointer nothing;
size byte = 7;

struct __attribute__((scalar_storage_order("big-endian"))) packet {
    int length;
    short kind;
    unsigned low : 5;
    unsigned high : 11;
    double ratio;
} packet = {1, 2, 3, 1000, 2.5};

struct around {
    __m128 held;
};

__attribute__((noinline)) __float128 twice(__float128 x) { return x * 2; }

__attribute__((noinline)) struct around around(float x) {
    struct around made = {_mm_set1_ps(x)};
    return made;
}

__attribute__((noinline)) int check(void) {
    return packet.length == 258 && packet.high == 5 && packet.low == 3 && packet.ratio == -1.5;
}

int main(void) {
    struct around four_times = around(2);
    return (int)twice(quad) + check() + (int)four_times.held[0];
}
