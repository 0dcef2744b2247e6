// Values that are shown, and change afterwards.
#include <vector>

struct Top {
    int top = 1;
    virtual ~Top() {}
};

struct Left : virtual Top {
    int left = 2;
};

struct Pair {
    int first;
    unsigned low : 3;
    int table[3];
    Pair *next;
};

Pair pair = {1, 2, {3, 4, 5}, &pair};
Left object;
int numbers[3] = {7, 8, 9};
std::vector<int> elements = {1, 2};

void changed() {}

void before() {}

int main() {
    before();
    pair = {11, 3, {13, 14, 15}, &pair};
    object.top = 21;
    object.left = 22;
    numbers[1] = 28;
    elements[0] = 31;
    changed();
    return 0;
}
