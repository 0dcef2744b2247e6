// A lock-free stack whose cells are used again: the head is the same, and what follows is not.
#include <atomic>
#include <cassert>
#include <thread>

struct Cell {
    int uses = 0;
    Cell *next = nullptr;
};
static Cell cells[3];
static std::atomic<Cell *> head;

static Cell *pop() {
    Cell *first = head.load();
    while (first && !head.compare_exchange_weak(first, first->next)) {
    }
    return first;
}

static void push(Cell *cell) {
    Cell *first = head.load();
    do
        cell->next = first;
    while (!head.compare_exchange_weak(first, cell));
}

int main() {
    for (Cell &cell : cells)
        push(&cell);
    std::thread one([] {
        Cell *a = pop(), *b = pop();
        if (a)
            push(a);
        if (b) {
            assert(++b->uses == 1);
            b->uses--;
        }
    });
    std::thread two([] {
        for (int i = 0; i < 2; i++)
            if (Cell *cell = pop()) {
                assert(++cell->uses == 1);
                cell->uses--;
            }
    });
    one.join();
    two.join();
}
