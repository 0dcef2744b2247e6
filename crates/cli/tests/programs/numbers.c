/* Sizes and constants whose high bit is set in the bytes that the compiler wrote. */
char one[128], two[129], three[200], four[256], five[257];
short six[40000];
int seven[70000], grid[200][150];
struct { int n; char none[0]; } zero;
enum mixed { LOW = -3, MIDDLE = 200, HIGH = 40000, TOP = 2000000000 } mixed = HIGH;
enum plain { ONE = 1, BYTE = 255, WORD = 65535, ALL = 0xffffffffu } plain = ALL;
enum big { HUGE = 0xffffffffffffffffull } big = HUGE;
static const int negative = -5;
static const unsigned char byte = 200;
static const short word = -300;
static const long large = 0x80000000L;
static const unsigned high = 0xfffffff0u;

__attribute__((noinline)) void stop(void) { __asm__ volatile("" ::: "memory"); }

int main(void)
{
    const int local = 200;
    const unsigned char small = 250;
    const int minus = -7;
    const long wide = 3000000000L;
    __asm__ volatile("" : : "r"(negative), "r"((int)byte), "r"((int)word), "r"(large), "r"(high),
                     "r"(local), "r"((int)small), "r"(minus), "r"(wide));
    stop();
    return one[0] + two[0] + three[0] + four[0] + five[0] + six[0] + seven[0] + grid[0][0] + zero.n;
}
