// Plays scripts, one in each thread: each letter is a call of a function with the numbers that
// follow it, and braces are calls inside of which the rest is played.
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLED extern "C" __attribute__((noinline, noclone, used))
#define KEEP __asm__ volatile("" ::: "memory")

struct node {
    int kind;
    bool marked;
    short small;
    long weight;
    struct node *next;
};

// What a thread plays, and the innermost places to which it may jump.
struct player {
    const char *at;
    sigjmp_buf *landing;
    int catches;
    long sum;
};

static __thread node nodes[4];
long shared = 3;

CALLED int add(int a, int b) { KEEP; return a + b; }
CALLED bool flag(bool on, unsigned char c) { KEEP; return on != (c > 7); }
CALLED node *touch(node *n, short s) {
    KEEP;
    if (n == NULL) return NULL;
    n->kind += s;
    n->weight -= s;
    n->marked = !n->marked;
    return n->next;
}
CALLED long wide(long x, unsigned long y) { KEEP; return x ^ (long)y; }
CALLED signed char narrow(signed char c, unsigned short u) { KEEP; return c + u; }
CALLED int many(int a, int b, int c, int d, int e, int f, int g, long h) {
    KEEP;
    return a + b + c + d + e + f + g + (int)h;
}
CALLED int tail(int a) { KEEP; return add(a, 1); }
CALLED int twice(int a) { KEEP; return tail(a + 1); }
CALLED void nothing(void) { KEEP; }
CALLED int loops(int n) {
    int sum = 0;
    do {
        KEEP;
        sum += n;
    } while (--n > 0);
    return sum;
}
CALLED void jump(player *p, int value) { KEEP; siglongjmp(*p->landing, value); }
CALLED void fail(int value) { KEEP; throw value; }

// Functions that no compiler makes so short, or that begin in the middle of a loop.
extern "C" int tiny(int a);
extern "C" int same(int a);
extern "C" int counted(int a);
extern "C" int after_branch(int a);
__asm__(
    ".text\n"
    ".type tiny, @function\n"
    "tiny: ret\n"
    ".size tiny, .-tiny\n"
    ".type same, @function\n"
    "same: mov %edi, %eax\n ret\n"
    ".size same, .-same\n"
    "nop\nnop\nnop\nnop\nnop\nnop\n"
    ".type counted, @function\n"
    "counted: lea -1(%rdi), %edi\n mov %edi, %eax\n test %edi, %edi\n jg counted\n ret\n"
    ".size counted, .-counted\n"
    ".type after_branch, @function\n"
    "after_branch: test %edi, %edi\n jle 1f\n lea 5(%rdi), %eax\n ret\n1: mov $-1, %eax\n ret\n"
    ".size after_branch, .-after_branch\n"
    ".globl tiny, same, counted, after_branch\n");

static int (*volatile chosen[])(int) = {tail, twice, tiny, same, counted, after_branch, loops};

static long number(player *p) {
    char *end;
    long value = strtol(p->at, &end, 10);
    p->at = *end == ',' ? end + 1 : end;
    return value;
}

static void play(player *p);

CALLED int recurse(player *p, int depth) {
    play(p);
    KEEP;
    return depth + 1;
}

// The same calls without a frame of their own at the end.
CALLED int onwards(player *p, int depth) { KEEP; return recurse(p, depth - 1); }

// Ends what was left by a jump: the rest up to the closing brace is not played.
static void skip(player *p, int depth) {
    for (; *p->at != 0 && depth > 0; p->at++) {
        if (strchr("{[(<", *p->at)) depth++;
        if (strchr("}])>", *p->at)) depth--;
    }
}

static int braces(const char *from, const char *to) {
    int depth = 0;
    for (; from < to; from++) {
        if (strchr("{[(<", *from)) depth++;
        if (strchr("}])>", *from)) depth--;
    }
    return depth;
}

static __attribute__((noinline)) void play_landing(player *p) {
    sigjmp_buf here, *volatile outer = p->landing;
    const char *volatile start = p->at;
    volatile int catches = p->catches;
    p->landing = &here;
    p->catches = 0;
    if (sigsetjmp(here, 0) == 0) play(p);
    else skip(p, braces(start, p->at) + 1);
    p->landing = outer;
    p->catches = catches;
}

static __attribute__((noinline)) void play_catching(player *p) {
    const char *start = p->at;
    sigjmp_buf *outer = p->landing;
    int catches = p->catches;
    p->catches = 1;
    p->landing = NULL;
    try {
        play(p);
    } catch (int value) {
        p->sum += value;
        skip(p, braces(start, p->at) + 1);
    }
    p->landing = outer;
    p->catches = catches;
}

static void play(player *p) {
    while (*p->at) {
        char what = *p->at++;
        long a, b;
        switch (what) {
        case 'a': a = number(p), b = number(p); p->sum += add(a, b); break;
        case 'f': a = number(p), b = number(p); p->sum += flag(a & 1, b); break;
        case 't':
            a = number(p), b = number(p);
            p->sum += touch(a < 0 ? NULL : &nodes[a & 3], b) == NULL;
            break;
        case 'w': a = number(p), b = number(p); p->sum += wide(a, b); break;
        case 'n': a = number(p), b = number(p); p->sum += narrow(a, b); break;
        case 'm': a = number(p), b = number(p); p->sum += many(a, b, 3, 4, 5, 6, b, a); break;
        case 'l': p->sum += loops(number(p)); break;
        case 'z': nothing(); break;
        case 'p': a = number(p), b = number(p); p->sum += chosen[a % 7](b) != 0; break;
        case 's': a = number(p); __atomic_store_n(&shared, a, __ATOMIC_RELAXED); break;
        case '(': p->sum += recurse(p, number(p)); break;
        case '<': p->sum += onwards(p, number(p)); break;
        case '{': play_landing(p); break;
        case '[': play_catching(p); break;
        case 'j': a = number(p); if (p->landing) jump(p, a | 1); break;
        case 'h': a = number(p); if (p->catches) fail(a); break;
        case '}': case ']': case ')': case '>': return;
        }
    }
}

static void *run(void *argument) {
    player p = {(const char *)argument, NULL, 0, 0};
    for (int n = 0; n < 4; n++) {
        nodes[n].kind = n;
        nodes[n].weight = 10 * n;
        nodes[n].next = n < 3 ? &nodes[n + 1] : NULL;
    }
    play(&p);
    return (void *)p.sum;
}

int main(int count, char **arguments) {
    pthread_t threads[8];
    for (int n = 2; n < count && n < 9; n++)
        pthread_create(&threads[n - 2], NULL, run, arguments[n]);
    printf("sum %ld\n", (long)run(arguments[1]));
    for (int n = 2; n < count && n < 9; n++) {
        void *sum;
        pthread_join(threads[n - 2], &sum);
        printf("sum %ld\n", (long)sum);
    }
}
