/* Arrays whose lengths the program computes, or that have none; numbers and names as
   they are written. */
#include <stdlib.h>
#include <string.h>

enum flags { READS = 1, WRITES = 2, RUNS = 4 };
enum levels { LOW = 1, MIDDLE = 3, HIGH = 10 };

struct message {
    int length;
    char text[];
};

struct table {
    int count;
    long cells[];
};

static int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
static float fraction = 1.1f;
static enum flags both = READS | RUNS, unnamed = 8;
static enum levels between = 7;
static unsigned __int128 widest = ~(unsigned __int128)0;

__attribute__((noinline)) static long fill(int count, int width)
{
    int numbers[count];
    short grid[width][count];
    char letters[count + 1];
    struct message *message = calloc(1, sizeof *message + 16);
    struct table *table = calloc(1, sizeof *table + 16);
    for (int i = 0; i < count; i++) {
        numbers[i] = i * i;
        letters[i] = (char)('a' + i);
        for (int j = 0; j < width; j++)
            grid[j][i] = (short)(10 * j + i);
    }
    letters[count] = 0;
    strcpy(message->text, "flexible");
    long sum = numbers[count - 1] + grid[width - 1][0] + letters[0] + message->text[0];
    return sum + table->count + (long)widest + (long)fraction + (long)both + (long)unnamed +
           (long)between + matrix[1][1]; /* here */
}

int main(int argc, char **argv)
{
    (void)argv;
    return fill(argc + 3, 2) == 0;
}
