/* Memory of known bytes, and functions that call one another. */
#include <stdio.h>

struct queue {
    int count;
    int max;
};

struct queue shared = {3, 8};
static char names[2][8] = {"ann", "b\n"};
double ratio = 1.5;
short small[4] = {-1, 2, 300, 4};

int queue_push(struct queue *queue, int by) {
    queue->count += by;
    return queue->count;
}

int main(void) {
    int total = 0;
    for (int round = 0; round < 3; round++)
        total += queue_push(&shared, round);
    printf("%d %s %g %d\n", total, names[0], ratio, small[0]);
    return 0;
}
