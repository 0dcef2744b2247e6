/* A function is called until a timer has sent enough signals. Their handler looks whether it came
 * in the program's code; now and then it makes a child that returns from the handler, or jumps
 * out of it. Prints how many signals there were, how many came outside of the code, and how many
 * children were ended by a signal. */
#define _GNU_SOURCE
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNALS = 600, RANGES = 64 };

static struct { unsigned long start, end; } code[RANGES];
static int ranges;
static volatile int is_child, signals, outside, crashed;
static sigjmp_buf start;

__attribute__((noinline)) long work(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

static int add_code(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum && ranges < RANGES; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
            continue;
        code[ranges].start = info->dlpi_addr + header->p_vaddr;
        code[ranges].end = code[ranges].start + header->p_memsz;
        ranges++;
    }
    return 0;
}

static void handle(int signal, siginfo_t *information, void *context)
{
    unsigned long counter = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    int is_outside = 1;

    (void)signal;
    (void)information;
    if (is_child || signals >= SIGNALS)
        return;
    for (int i = 0; i < ranges; i++)
        is_outside &= counter < code[i].start || counter >= code[i].end;
    outside += is_outside;
    signals++;
    if (signals % 3 == 0)
        siglongjmp(start, 1);
    if (signals % 10 == 1) {
        int status = 0, child = fork();
        if (child == 0) {
            is_child = 1;
            return;
        }
        waitpid(child, &status, 0);
        crashed += status != 0;
    }
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_RESTART | SA_SIGINFO };
    struct itimerval interval = { { 0, 200 }, { 0, 200 } };

    dl_iterate_phdr(add_code, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &interval, NULL);
    sigsetjmp(start, 1);
    while (signals < SIGNALS) {
        work(signals);
        if (is_child)
            _exit(0);
    }
    interval = (struct itimerval){ { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, &interval, NULL);
    printf("signals %d outside %d crashed %d\n", signals, outside, crashed);
    return 0;
}
