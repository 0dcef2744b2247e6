/* A balance that is a sum: of a constant, of a number in a file, and of an argument. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct account {
    long number;
    long balance;
};

static long balance;
static long limit = 50;
static struct account saved;
static struct account copy;
static char buffer[64];

static long next_amount(int file) {
    char digits[8] = {0};
    read(file, digits, 4);
    memcpy(buffer, digits, sizeof digits);
    return buffer[0] - '0';
}

static long fee(long amount) {
    long part = amount / 2;
    return part;
}

static void *deposit(void *path) {
    int file = open(path, O_RDONLY);
    char skipped[120];
    read(file, skipped, sizeof skipped);
    long old = balance;
    long amount = next_amount(file);
    balance = old + amount;
    saved.number = limit;
    saved.balance = fee(balance);
    close(file);
    return NULL;
}

static void done(void) {
}

int main(int count, char **arguments) {
    pthread_t thread;
    char first = arguments[2][0];
    balance = 100;
    pthread_create(&thread, NULL, deposit, arguments[1]);
    pthread_join(thread, NULL);
    copy = saved;
    done();
    printf("%ld %ld %ld %c\n", balance, copy.number, copy.balance, first);
    return 0;
}
