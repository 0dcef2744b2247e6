/* Code of no file, without unwind rules: with a frame pointer, and without. And code of
   the kernel's. */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char framed[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
/* push %rbp; xor %ebp,%ebp; call *%rdi; pop %rbp; ret */
static const unsigned char frameless[] = {0x55, 0x31, 0xed, 0xff, 0xd7, 0x5d, 0xc3};

int called;

__attribute__((noinline)) void back(void)
{
    called++;
}

__attribute__((noinline)) long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec;
}

int main(void)
{
    char *code = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, framed, sizeof framed);
    memcpy(code + 64, frameless, sizeof frameless);
    mprotect(code, 4096, PROT_READ | PROT_EXEC);
    ((void (*)(void (*)(void)))code)(back);
    ((void (*)(void (*)(void)))(code + 64))(back);
    return now() == 0 || called != 2;
}
