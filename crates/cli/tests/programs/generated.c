/* An instruction that belongs to no line, as some that compilers make. Only
   clang's assembler takes the directive. */
volatile int sum;
#ifdef __clang__
extern char generated[];
void *volatile place = generated;
#endif

__attribute__((noinline)) int made(int n) {
    sum += n;
#ifdef __clang__
    __asm__ volatile(".loc 0 0\n\t.globl generated\ngenerated: nop");
#endif
    sum += 2;
    return sum;
}

int main(void) { return made(3) - 5; }
