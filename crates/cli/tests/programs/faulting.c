/* A function whose first instruction faults, from one place with one stack pointer: its
   handler jumps away, repairs what was wrong, at the second time only, or passes over the
   instruction; before that it calls, is interrupted by another signal, and forks. The first
   argument is how many threads do so, a second one puts the handlers on a stack of their
   own, which lies above. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

int touch(int *place);
void inner(void);
__asm__(".text\n.globl touch\n.type touch,@function\n"
        "touch: movl (%rdi), %eax\n.Lbehind: ret\n.size touch, . - touch\n"
        ".globl inner\n.type inner,@function\ninner: nop\nret\n"
        ".globl behind\n.set behind, .Lbehind");
extern char behind[];

static __thread sigjmp_buf back;
static __thread volatile int how;
static volatile long calls, jumps, repairs, skips, inners;
static __thread int room;
#define COUNT(it) __atomic_add_fetch(&(it), 1, __ATOMIC_SEQ_CST)

static void on_other(int number)
{
    (void)number;
    COUNT(inners);
    inner();
}

static void on_fault(int number, siginfo_t *information, void *context)
{
    ucontext_t *interrupted = context;
    (void)number;
    (void)information;
    COUNT(inners);
    inner();
    if (how & 8)
        raise(SIGUSR1);
    if (how & 16) {
        if (fork() == 0)
            _exit(0);
        wait(0);
    }
    switch (how & 3) {
    case 0:
        COUNT(jumps);
        siglongjmp(back, 1);
    case 1:
        COUNT(repairs);
        interrupted->uc_mcontext.gregs[REG_RDI] = (greg_t)&room;
        break;
    case 2:
        COUNT(skips);
        interrupted->uc_mcontext.gregs[REG_RIP] = (greg_t)behind;
        break;
    default:
        how -= 2; /* It faults once more. */
    }
}

static void *work(void *rounds_)
{
    long rounds = (long)rounds_;
    char alternate[65536];
    stack_t stack = { .ss_sp = alternate, .ss_size = sizeof alternate };
    sigaltstack(&stack, 0);
    for (volatile long round = 0; round < rounds; round++) {
        how = (int)(round % 32);
        int is_good = how & 4;
        if (sigsetjmp(back, 1) == 0) {
            COUNT(calls);
            touch(is_good ? &room : 0);
        }
    }
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, 0);
    return 0;
}

int main(int argc, char **argv)
{
    struct sigaction action;
    long threads = argc > 1 ? atol(argv[1]) : 1;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | (argc > 2 ? SA_ONSTACK : 0) | SA_NODEFER;
    sigaction(SIGSEGV, &action, 0);
    signal(SIGUSR1, on_other);
    pthread_t ids[16];
    for (long i = 1; i < threads; i++)
        pthread_create(&ids[i], 0, work, (void *)160);
    work((void *)160);
    for (long i = 1; i < threads; i++)
        pthread_join(ids[i], 0);
    printf("calls %ld, inner %ld, jumps %ld, repairs %ld, skips %ld\n", calls, inners, jumps,
           repairs, skips);
    return 0;
}
