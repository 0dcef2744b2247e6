/*
 * What a trap costs in the kernel alone: `floor TRAPS`.
 *
 * A tracer that does nothing but what any debugger must for a trap (wait, read
 * the registers, set the program counter, go on) and the program that it
 * traces, on one processor. Prints the nanoseconds from the first trap to after
 * the last, as the program sees them.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void trap(long traps, int ready)
{
    char byte;
    if (read(ready, &byte, 1) != 1)
        exit(2);
    long long begin = now_ns();
    for (long i = 0; i < traps; i++)
        __asm__ volatile("int3\n nop" ::: "memory");
    printf("elapsed_ns=%lld\n", now_ns() - begin);
    exit(0);
}

int main(int argc, char **argv)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    int ready[2];
    if (argc != 2 || pipe(ready) != 0)
        return 2;
    pid_t traced = fork();
    if (traced == 0)
        trap(atol(argv[1]), ready[0]);
    if (ptrace(PTRACE_SEIZE, traced, 0, PTRACE_O_EXITKILL) != 0 || write(ready[1], "", 1) != 1)
        return 2;
    const size_t counter = offsetof(struct user, regs.rip);
    for (;;) {
        int status;
        struct user_regs_struct registers;
        if (wait4(traced, &status, __WALL, NULL) != traced)
            return 2;
        if (!WIFSTOPPED(status))
            return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
        int is_trap = status >> 8 == SIGTRAP;
        if (is_trap) {
            ptrace(PTRACE_GETREGS, traced, 0, &registers);
            ptrace(PTRACE_POKEUSER, traced, counter, registers.rip + 1);
        }
        ptrace(PTRACE_CONT, traced, 0, is_trap ? 0 : WSTOPSIG(status));
    }
}
