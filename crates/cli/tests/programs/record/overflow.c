/* A name that is too long spoils the pointer behind it, long before the pointer is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct user {
    char name[8];
    long *visits;
};

static struct user guest;
static long steps;

static void set_name(struct user *user, const char *name) {
    strcpy(user->name, name);
}

static void think(long count) {
    for (long i = 0; i < count; i++)
        steps = steps * 31 + i;
}

int main(int count, char **arguments) {
    guest.visits = calloc(1, sizeof *guest.visits);
    think(400000);
    set_name(&guest, arguments[1]);
    think(400000);
    *guest.visits += 1;
    printf("%s %ld\n", guest.name, *guest.visits);
    return 0;
}
