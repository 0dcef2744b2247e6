#include "connection.h"

static int last_connection, closed_connections;

int connection_open(void)
{
    return ++last_connection;
}

void connection_close(int connection)
{
    closed_connections += connection > 0;
}
