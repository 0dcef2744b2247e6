/*
 * Threads that run through fifty sites and count it themselves:
 *
 *     stress THREADS PASSES GENERATIONS SIGNAL_MICROSECONDS FORKS
 *
 * THREADS threads at a time make PASSES passes each; each of GENERATIONS such
 * sets ends before the next one starts. Meanwhile, one more thread sends them
 * signals at this interval, whose handler makes a pass as well, and another
 * one forks so many children, one after the other, which make a pass each.
 *
 * An instruction `site_N` is executed as often as `executed[N]` says. On each
 * pass, r12 holds a number that no other pass of the process has, and rcx
 * tells executions of one pass apart.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SITES = 50, THREADS_MAX = 64 };

long executed[SITES];
void pass(long serial);

/* Where the instruction does not count itself, its neighbour does. */
#define COUNT(n, times) "lock addq $" #times ", executed+8*" #n "(%rip)\n"
/* An empty range of bytes follows, so that debuggers take it for a function. */
#define SITE(n) ".globl site_" #n "\n.type site_" #n ",@function\nsite_" #n ": "

__asm__(".text\n"
        ".macro counted from, to\n"
        ".globl site_\\from\n"
        "site_\\from: lock incq executed+8*\\from(%rip)\n"
        ".if \\to-\\from\n"
        "counted %(\\from+1), \\to\n"
        ".endif\n"
        ".endm\n"
        ".altmacro\n"

        ".globl pass\n.type pass,@function\n"
        "pass: push %r12\n"
        "push %rbx\n"
        "push %rbp\n"
        "mov %rdi, %r12\n"
        "xor %ecx, %ecx\n"
        "call visit\n"
        "pop %rbp\n"
        "pop %rbx\n"
        "pop %r12\n"
        "ret\n"

        /* The entry of a function; adjacent counting instructions. */
        ".globl visit\n.type visit,@function\n"
        "visit:\n" SITE(0) "endbr64\n"
        SITE(1) "push %rbx\n" COUNT(0, 1) COUNT(1, 1)
        "counted 2, 9\n"
        /* Adjacent instructions of one byte. */
        SITE(10) "nop\n" SITE(11) "nop\n" SITE(12) "nop\n"
        COUNT(10, 1) COUNT(11, 1) COUNT(12, 1)
        SITE(13) "jmp 1f\n"
        "ud2\n"
        "1: " COUNT(13, 1)
        /* A call, the entry of what it calls, and the return. */
        SITE(14) "call within\n" COUNT(14, 1)
        /* An instruction that branches to itself. */
        "mov $5, %ecx\n"
        SITE(17) "loop site_17\n" COUNT(17, 5)
        /* The ends of a loop. */
        "mov $3, %ecx\n"
        "1: dec %ecx\n"
        SITE(18) "jnz 1b\n" COUNT(18, 3)
        "mov $3, %ecx\n"
        "1: counted 19, 19\n"
        "dec %ecx\n"
        "jnz 1b\n"
        "lea called(%rip), %rax\n"
        SITE(20) "call *%rax\n" COUNT(20, 1)
        "sub $64, %rsp\n"
        "mov %rsp, %rdi\n"
        "mov $50, %ecx\n"
        SITE(22) "rep stosb\n" COUNT(22, 1)
        "add $64, %rsp\n"
        /* A branch that is taken, and one that is not. */
        "cmp %eax, %eax\n"
        SITE(23) "je 1f\n"
        "ud2\n"
        "1: " SITE(24) "jne 1b\n" COUNT(23, 1) COUNT(24, 1)
        SITE(25) "mov executed(%rip), %rax\n" COUNT(25, 1)
        SITE(26) "xchg %rbx, %rbp\n" COUNT(26, 1)
        SITE(27) "xchg %rbp, %rbx\n" COUNT(27, 1)
        SITE(28) "lea 16(%rsp), %rsi\n" COUNT(28, 1)
        /* A system call, getpid: it changes rcx. */
        "mov $39, %eax\n"
        SITE(29) "syscall\n" COUNT(29, 1)
        "xor %ecx, %ecx\n"
        SITE(30) "pause\n" COUNT(30, 1)
        SITE(31) "rdtsc\n" COUNT(31, 1)
        SITE(32) "movq %r12, %xmm0\n" COUNT(32, 1)
        SITE(33) "lock xadd %rcx, executed+8*33(%rip)\n" COUNT(33, 1)
        "xor %ecx, %ecx\n"
        SITE(34) "cmovne %rax, %rcx\n" COUNT(34, 1)
        "xor %ecx, %ecx\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        SITE(35) "leave\n" COUNT(35, 1)
        "lea 1f(%rip), %rax\n"
        SITE(36) "jmp *%rax\n"
        "ud2\n"
        "1: " COUNT(36, 1)
        SITE(37) "movups %xmm0, -128(%rsp)\n" COUNT(37, 1)
        "counted 38, 49\n"
        "pop %rbx\n"
        "ret\n"

        ".globl within\n.type within,@function\n"
        "within:\n" SITE(15) "push %rbx\n" COUNT(15, 1) "pop %rbx\n" COUNT(16, 1)
        SITE(16) "ret\n"

        ".globl called\n.type called,@function\n"
        "called:\n" SITE(21) "mov (%rsp), %rbx\n" COUNT(21, 1) "ret\n"
        ".noaltmacro\n");

static int passes, threads;
static long serials;
static int running;
static pthread_t workers[THREADS_MAX];
static volatile int is_signalled[THREADS_MAX];
static pthread_barrier_t signalled_last;
static __thread int own_index;

static void pass_once(void)
{
    pass(__atomic_add_fetch(&serials, 1, __ATOMIC_SEQ_CST));
}

static void *work(void *index)
{
    own_index = (int)(long)index;
    for (int i = 0; i < passes; i++) {
        pass_once();
        is_signalled[own_index] = 0;
    }
    __atomic_sub_fetch(&running, 1, __ATOMIC_SEQ_CST);
    pthread_barrier_wait(&signalled_last);
    return NULL;
}

static void on_signal(int signal)
{
    (void)signal;
    pass_once();
}

/*
 * Sends each thread one signal a pass at most: where a debugger makes the
 * handler slow, signals must not keep the thread from going on.
 */
static void *send(void *interval)
{
    struct timespec pause = {0, 1000 * (long)interval};

    while (interval && __atomic_load_n(&running, __ATOMIC_SEQ_CST)) {
        for (int i = 0; i < threads; i++) {
            if (!is_signalled[i]) {
                is_signalled[i] = 1;
                pthread_kill(workers[i], SIGUSR1);
            }
        }
        nanosleep(&pause, NULL);
    }
    pthread_barrier_wait(&signalled_last);
    return NULL;
}

static void *make_children(void *count)
{
    for (long i = 0; i < (long)count; i++) {
        int status;
        pid_t child = fork();

        if (child == 0) {
            pass_once();
            _exit(7);
        }
        if (child < 0 || waitpid(child, &status, 0) != child ||
            !WIFEXITED(status) || WEXITSTATUS(status) != 7) {
            printf("child %ld failed\n", i);
            exit(1);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t sender, parent;

    if (argc != 6)
        return 2;
    threads = atoi(argv[1]);
    passes = atoi(argv[2]);
    signal(SIGUSR1, on_signal);
    for (int generation = 0; generation < atoi(argv[3]); generation++) {
        running = threads;
        pthread_barrier_init(&signalled_last, NULL, (unsigned)threads + 1);
        for (int i = 0; i < threads; i++)
            is_signalled[i] = 0;
        for (int i = 0; i < threads; i++)
            pthread_create(&workers[i], NULL, work, (void *)(long)i);
        pthread_create(&sender, NULL, send, (void *)atol(argv[4]));
        pthread_create(&parent, NULL, make_children, (void *)atol(argv[5]));
        for (int i = 0; i < threads; i++)
            pthread_join(workers[i], NULL);
        pthread_join(sender, NULL);
        pthread_join(parent, NULL);
    }
    for (int i = 0; i < SITES; i++)
        printf("%ld\n", executed[i]);
    return 0;
}
