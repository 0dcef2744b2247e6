/* Forks. The parent sums up in a register while the child waits, then the child
   does. Ends with 0. */
#include <sys/wait.h>
#include <unistd.h>

volatile int passes;

__attribute__((noinline)) int triple(int x) {
    passes++;
    __asm__ volatile("" : "+r"(x));
    return x * 3;
}

__attribute__((noinline)) int total(int n) {
    int sum = 0;
    for (int i = 1; i <= n; i++)
        sum += triple(i);
    return sum;
}

int main(void) {
    int pipes[2], status;
    char go;
    if (pipe(pipes))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        close(pipes[1]);
        int waited = read(pipes[0], &go, 1) == 1;
        _exit(waited && total(2) == 9 && passes == 2 ? 0 : 2);
    }
    int own = total(3);
    if (write(pipes[1], "g", 1) != 1)
        return 3;
    waitpid(child, &status, 0);
    return own != 18 || status != 0 || passes != 3;
}
