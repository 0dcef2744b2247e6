// Inlined calls that begin at one instruction: a line, what it calls, and what
// that calls in its turn.
#include <cstdio>

struct Shelf {
    int books;
    int count() const
    {
        return books * 3;
    }
};

struct Room {
    Shelf shelf;
    int total() const
    {
        int found = shelf.count();
        return found + 1;
    }
};

__attribute__((noinline)) int visit(const Room *room, int times)
{
    std::puts("enters");
    int seen = room->total();
    std::puts("leaves");
    int again = room->total() + times;
    return seen + again;
}

int main()
{
    Room room = {{7}};
    for (int times = 1; times <= 3; times++)
        std::printf("%d\n", visit(&room, times));
}
