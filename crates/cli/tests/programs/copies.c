/* Copies its input to its output; tells its arguments on standard error. */
#include <stdio.h>

int main(int argc, char **argv) {
    int c;
    for (int i = 1; i < argc; i++)
        fprintf(stderr, "[%s]", argv[i]);
    while ((c = getchar()) != EOF)
        putchar(c);
    return 0;
}
