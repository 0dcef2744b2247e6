/* Calls of functions under disturbances; prints how often they were called and
 * returned. The first argument chooses the disturbance. */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;
static _Atomic long entries, returns;
static char *self;

int work(int x);
int load(int *p);
int thin(int x);
__asm__(".text\n"
        ".globl work\n.type work,@function\n"
        "work: nopl 8(%rax)\n nopl 8(%rax)\n lea 1(%rdi),%eax\n ret\n.size work,.-work\n"
        /* Its first instruction may fault. */
        ".globl load\n.type load,@function\n"
        "load: mov (%rdi),%eax\n nop\n nop\n nop\n add $1,%eax\n ret\n.size load,.-load\n"
        /* It needs no stack but for its return address. */
        ".globl thin\n.type thin,@function\n"
        "thin: nopl 8(%rax)\n lea 1(%rdi),%eax\n ret\n.size thin,.-thin\n");

struct node { int value; int more[3]; };
__attribute__((noinline)) int take(struct node *node)
{
    __asm__ volatile("nopl 8(%rax)\n nopl 8(%rax)");
    return node != 0;
}

static int call(int x)
{
    entries++;
    int result = work(x);
    returns++;
    return result;
}

static void calls(int count)
{
    for (int i = 0; i < count; i++)
        call(i);
}

static void on_signal(int number)
{
    (void)number;
    call(1);
}

static void set_handler(int number, void (*handler)(int))
{
    struct sigaction action = {0};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, 0);
}

static void set_timer(long microseconds)
{
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, 0);
}

/* A timer's handler calls the function, too. */
static void storm(void)
{
    set_handler(SIGALRM, on_signal);
    set_timer(2000);
    calls(2000000);
    set_timer(0);
    signal(SIGALRM, SIG_IGN);
}

static pthread_t threads[4];

static void *four_hundred_thousand(void *unused)
{
    (void)unused;
    calls(400000);
    return 0;
}

/* Threads signal each other. */
static void signals_between_threads(void)
{
    set_handler(SIGUSR1, on_signal);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, four_hundred_thousand, 0);
    for (int i = 0; i < 1000; i++) {
        pthread_kill(threads[i % 4], SIGUSR1);
        call(i);
        usleep(200);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
}

static void *some(void *is_odd)
{
    calls(3000);
    if (is_odd)
        pthread_exit(0);
    return 0;
}

static void short_threads(void)
{
    for (int round = 0; round < 30; round++) {
        for (long i = 0; i < 4; i++)
            pthread_create(&threads[i], 0, some, (void *)(i & 1));
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], 0);
    }
}

static void clean_up(void *unused)
{
    (void)unused;
    call(9);
}

static void *until_cancelled(void *unused)
{
    pthread_cleanup_push(clean_up, unused);
    for (;;) {
        calls(2000);
        pthread_testcancel();
    }
    pthread_cleanup_pop(1);
    return 0;
}

static void cancelled_threads(void)
{
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], 0, until_cancelled, 0);
        usleep(3000);
        for (int i = 0; i < 2; i++)
            pthread_cancel(threads[i]);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], 0);
    }
}

/* What a child does: calls that are not the program's. */
static int child(void)
{
    long sum = 0;
    for (int i = 0; i < 100; i++)
        sum += work(i);
    return sum == 5050 ? 0 : 1;
}

static void execute_child(void)
{
    execl("/proc/self/exe", self, "child", (char *)0);
    _exit(9);
}

static void expect(pid_t process)
{
    int status = -1;
    waitpid(process, &status, 0);
    if (status != 0)
        printf("a child ended with %x\n", status);
}

static void forks(void)
{
    for (int round = 0; round < 20; round++) {
        calls(1000);
        pid_t process = fork();
        if (process == 0) {
            if (round % 3 == 0) {
                pid_t grandchild = fork();
                if (grandchild == 0)
                    _exit(child());
                expect(grandchild);
            }
            if (round % 2)
                execute_child();
            _exit(child());
        }
        expect(process);
    }
}

static void vforks(void)
{
    char *arguments[] = {self, "child", 0};
    for (int round = 0; round < 20; round++) {
        calls(1000);
        pid_t process = 0;
        switch (round % 4) {
        case 0:
            process = vfork();
            if (process == 0) {
                work(1);
                execute_child();
            }
            break;
        case 1:
            posix_spawn(&process, "/proc/self/exe", 0, 0, arguments, environ);
            break;
        case 2:
            if (system("exit 0") != 0)
                printf("system failed\n");
            continue;
        default:
            process = vfork();
            if (process == 0) {
                work(1);
                _exit(0);
            }
        }
        expect(process);
    }
}

static _Atomic int is_over;

static void *until_over(void *unused)
{
    while (!is_over)
        calls(1000);
    return unused;
}

/* Other threads call the function while processes are made. */
static void forks_among_threads(void)
{
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, until_over, 0);
    for (int round = 0; round < 40; round++) {
        pid_t process = round % 2 ? fork() : vfork();
        if (process == 0) {
            if (round % 4 < 2) {
                work(1);
                _exit(0);
            }
            execute_child();
        }
        expect(process);
    }
    is_over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
}

/* It executes itself four times. */
static void executes_itself(int argc, char **argv)
{
    int round = argc > 2 ? atoi(argv[2]) : 0;
    long before = argc > 3 ? atol(argv[3]) : 0;
    calls(5000);
    if (round < 4) {
        char next[20], so_far[20];
        sprintf(next, "%d", round + 1);
        sprintf(so_far, "%ld", before + entries);
        execl("/proc/self/exe", self, "exec", next, so_far, (char *)0);
    }
    entries += before;
    returns += before;
}

static ucontext_t first, second, original;
static int left = 2000;

static void swap(ucontext_t *from, ucontext_t *to)
{
    swapcontext(from, to);
    call(3);
}

static void run_first(void)
{
    while (left-- > 0) {
        calls(10);
        swap(&first, &second);
    }
    setcontext(&original);
}

static void run_second(void)
{
    for (;;) {
        call(5);
        swap(&second, &first);
    }
}

static void make_fiber(ucontext_t *fiber, void (*function)(void))
{
    getcontext(fiber);
    fiber->uc_stack.ss_sp = malloc(65536);
    fiber->uc_stack.ss_size = 65536;
    makecontext(fiber, function, 0);
}

static void fibers(void)
{
    make_fiber(&first, run_first);
    make_fiber(&second, run_second);
    getcontext(&original);
    if (left > 0)
        setcontext(&first);
}

static int good = 41;
static int jumps;
static sigjmp_buf environment;

static void on_fault(int number, siginfo_t *information, void *context)
{
    (void)number, (void)information;
    ucontext_t *interrupted = context;
    if ((void *)interrupted->uc_mcontext.gregs[REG_RIP] != (void *)load)
        printf("the fault is elsewhere\n");
    if (jumps)
        siglongjmp(environment, 1);
    interrupted->uc_mcontext.gregs[REG_RDI] = (long)&good;
}

static void load_all(int *p)
{
    entries++;
    load(p);
    returns++;
}

/* The handler returns to the instruction, or leaves the function. */
static void faults(void)
{
    struct sigaction action = {0};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    for (int i = 0; i < 1000; i++)
        load_all(&good);
    for (jumps = 0; jumps < 2; jumps++) {
        for (volatile int i = 0; i < 50; i++) {
            if (sigsetjmp(environment, 1) == 0)
                load_all((int *)8);
            load_all(&good);
        }
    }
}

/* Ever more room above a page that cannot be written. */
static void little_stack(void)
{
    char *pages = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(pages, 4096, PROT_NONE);
    for (long room = 8; room < 400; room += 8) {
        long result;
        entries++;
        __asm__ volatile("mov %%rsp,%%rbx\n mov %1,%%rsp\n mov $41,%%edi\n call thin\n"
                         "mov %%rbx,%%rsp\n mov %%rax,%0\n"
                         : "=&r"(result)
                         : "r"(pages + 4096 + room)
                         : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
                           "memory", "cc");
        returns++;
        if ((int)result != 42)
            printf("the result is wrong\n");
    }
}

/* Pointers that events read. */
static void pointers(void)
{
    struct node node = {7, {0}};
    set_handler(SIGSEGV, on_signal);
    for (int i = 0; i < 2000; i++) {
        struct node *wrong = i % 2 ? 0 : (struct node *)0x7f00dead00000000;
        entries++;
        take(i % 20 == 3 ? wrong : &node);
        returns++;
    }
}

/* The program has a block of its own at `gs`. */
static void own_gs(const char *word)
{
    long *block = calloc(1, 4096);
    calls(5000);
    block[0] = strtol(word, 0, 0);
    for (int i = 1; i < 8; i++)
        block[i] = (long)(block + 64);
    syscall(SYS_arch_prctl, ARCH_SET_GS, block);
    pid_t process = fork();
    if (process == 0) {
        long mine = 0;
        __asm__ volatile("mov %%gs:8,%0" : "=r"(mine));
        _exit(mine != (long)(block + 64));
    }
    expect(process);
    calls(2000);
    pthread_create(&threads[0], 0, some, 0);
    pthread_join(threads[0], 0);
    for (int i = 64; i < 512; i++)
        if (block[i] != 0)
            printf("the block was written\n");
}

/* Only output is allowed from here on. */
static void filter(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {5, rules};
    calls(5000);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    calls(5000);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    self = argv[0];
    setvbuf(stdout, 0, _IOLBF, 4096);
    if (!strcmp(what, "child"))
        return child();
    if (!strcmp(what, "storm"))
        storm();
    if (!strcmp(what, "between"))
        signals_between_threads();
    if (!strcmp(what, "short"))
        short_threads();
    if (!strcmp(what, "cancelled"))
        cancelled_threads();
    if (!strcmp(what, "forks"))
        forks();
    if (!strcmp(what, "vforks"))
        vforks();
    if (!strcmp(what, "among"))
        forks_among_threads();
    if (!strcmp(what, "exec"))
        executes_itself(argc, argv);
    if (!strcmp(what, "fibers"))
        fibers();
    if (!strcmp(what, "faults"))
        faults();
    if (!strcmp(what, "stack"))
        little_stack();
    if (!strcmp(what, "pointers"))
        pointers();
    if (!strcmp(what, "gs"))
        own_gs(argv[2]);
    if (!strcmp(what, "filter"))
        filter();
    char line[80];
    int length = snprintf(line, sizeof line, "truth %ld %ld\n", entries, returns);
    if (write(1, line, (size_t)length) < 0)
        return 1;
    _exit(0);
}
