// Sends itself signals that it handles, and prints how many arrived.
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int first, second, alarms, traps;

static void on_signal(int number) {
    first += number == SIGUSR1;
    second += number == SIGUSR2;
    alarms += number == SIGALRM;
    traps += number == SIGTRAP;
}

// Stands in the program itself when the signal comes.
__attribute__((noinline)) long send(int number) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_kill), "D"((long)getpid()), "S"((long)number)
                     : "rcx", "r11", "memory");
    return result;
}

int main(int argc, char **argv) {
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    signal(SIGALRM, on_signal);
    send(SIGUSR1);
    send(SIGUSR2);
    send(SIGALRM);
    send(SIGUSR1);
    if (argc > 1)
        signal(SIGTRAP, on_signal);
    __asm__ volatile("int3");
    printf("first %d second %d alarms %d traps %d\n", first, second, alarms, traps);
    return 0;
}
