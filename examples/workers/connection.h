#ifndef CONNECTION_H
#define CONNECTION_H

int connection_open(void);
void connection_close(int connection);

#endif
