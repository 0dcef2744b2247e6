// Signals between threads, ends of children, the output of a command; aborts with an argument.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t sent, ended;
static pthread_t first;

static void note_sent(int signal) { sent++; }

static void note_end(int signal) { ended++; }

static void *send(void *unused) {
    for (int count = 0; count < 5; count++) {
        int before = sent;
        pthread_kill(first, SIGUSR2);
        while (sent == before)
            usleep(500);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int pauses = 0, status, sum = 0;
    char line[100];
    pthread_t sender;
    first = pthread_self();
    signal(SIGUSR2, note_sent);
    signal(SIGCHLD, note_end);
    pthread_create(&sender, NULL, send, NULL);
    while (sent < 5) {
        usleep(400);
        pauses++;
    }
    pthread_join(sender, NULL);
    for (int number = 0; number < 3; number++) {
        if (fork() == 0) {
            usleep(1000 * number);
            _exit(number);
        }
    }
    for (int number = 0; number < 3; number++) {
        while (wait(&status) < 0)
            continue;
        sum += WEXITSTATUS(status);
    }
    FILE *command = popen("echo hello; date +%N", "r");
    while (fgets(line, sizeof line, command) != NULL)
        printf("command: %s", line);
    pclose(command);
    printf("sent %d, ended %d, sum %d, pauses %d\n", (int)sent, (int)ended, sum, pauses);
    fflush(stdout);
    if (argc > 1)
        abort();
    return 0;
}
