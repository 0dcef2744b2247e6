/* A function that is called in a process and in one that it makes. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int work(int n, const char *who)
{
    return 2 * n + (who[0] == 'c');
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 6; i++)
        sum += work(i, "parent");
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 4; i++)
            sum += work(i, "child");
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    sum += work(100, "parent");
    printf("sum %d, %d\n", sum, WEXITSTATUS(status));
    return 0;
}
