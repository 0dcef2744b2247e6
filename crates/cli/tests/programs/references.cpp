#include <cstdio>

struct Holder {
    int own;
    int &held;
};

static void use(int &number) { number++; }

int main() {
    int base = 77, other = 5;
    int &alias = base;
    Holder holder{1, base};
    int *pointer = &other;
    int *&pointed = pointer;
    use(alias);
    std::printf("%d %d\n", base, *pointed);
    return holder.held == 0;
}
