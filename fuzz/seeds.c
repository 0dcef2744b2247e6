/* The program behind the seeds of the fuzz targets: a compact sample of what
 * ELF and DWARF contain. */
struct list {
    struct list *next;
    int value;
    union { int i; float f; } either;
    unsigned bits : 3;
    char name[8];
};
enum color { RED, GREEN };
typedef int (*compare_t)(const void *, const void *);
static int total;
struct list kept = {0, 7, {1}, 2, "kept"};

static inline int weigh(struct list *list) { total += list->value; return list->value; }

__attribute__((noinline))
int walk(struct list *list, compare_t compare, double scale, enum color color) {
    int sum = (int)scale + color;
    for (; list; list = list->next) { int weight = weigh(list); sum += weight; }
    return sum + (compare != 0);
}

__attribute__((noinline))
int choose(int letter) {
    switch (letter) {
    case 'a': return 1;
    case 'b': return walk(&kept, 0, 2.5, GREEN);
    case 'c': return total;
    case 'd': return -letter;
    case 'e': return letter * 9;
    default: return 0;
    }
}

int main(int count, char **words) {
    struct list list = {&kept, count};
    return walk(&list, 0, 1.5, RED) + choose(words[0][0]);
}
