/* A server that forks a worker for each request. From the fork on both
 * processes have the connection, and both must close it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "connection.h"

static void serve(int connection, const char *request)
{
    if (request[0] == '\0') {
#ifdef FIXED
        connection_close(connection);
#endif
        return;
    }
    printf("served %s\n", request);
    connection_close(connection);
}

int main(void)
{
    const char *requests[] = {"tea", "", "cake"};

    for (int i = 0; i < 3; i++) {
        int connection = connection_open();
        if (fork() == 0) {
            serve(connection, requests[i]);
            exit(0);
        }
        connection_close(connection);
        wait(NULL);
    }
    return 0;
}
