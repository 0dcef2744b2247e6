/* One expression of every kind is true at the second call of `use`. */
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace limits {
int highest = 42;
enum Level { LOW = 1, HIGH = 9 };
}
static int counter = 5;
enum Color { RED, GREEN = 7 };
enum class Kind : unsigned char { Plain, Fancy = 3 };

struct Bits {
    unsigned low : 3;
    int high : 5;
};
struct Node {
    int value;
    Node *next;
};
struct Floor {
    virtual ~Floor() {}
    int top = 70;
};
struct Left : virtual Floor {
    int left = 3;
};
struct Right : virtual Floor {
    int right = 4;
};
struct Room : Left, Right {
    int room = 5;
};
struct Deep : virtual Left {
    int deep = 6;
};

int add_one(int n) { return n + 1; }

struct Thing {
    std::vector<int> numbers;
    std::map<std::string, int> ages;
    std::string name;
    std::unique_ptr<Node> owned;
    std::optional<long> maybe;
    Bits bits;
    Color color;
    Kind kind;
    limits::Level level;
    double ratio;
    char label[8];
    const char *text;
    Node *list;
    int cells[4];
    Room room;
    Deep deep;
    float part, third;
    const wchar_t *wide;
    char16_t units[8];
    char32_t points[4];
    std::wstring title;
    int Node::*spot;
    int (Thing::*area)(int);
    int (*one)(int);
    int measure(int n) { return n + cells[1]; }
};


__attribute__((noinline)) Thing *use(Thing *thing, int count, double half,
                                     const std::string &word, int &total,
                                     std::vector<int> &rest, Left &left)
{
    static int calls = 6;
    calls += 1;
    asm volatile("" : : "r"(thing), "r"(&left), "r"(&word), "r"(&rest) : "memory");
    thing->cells[0] += count + total + (int)half;
    return thing;
}

int main()
{
    Thing thing{{1, 2, 3}, {{"ann", 30}, {"bob", 40}}, "gadget",
                std::make_unique<Node>(Node{11, nullptr}), 77, {5, -3}, GREEN, Kind::Fancy,
                limits::HIGH, 2.5, "lab", "text", nullptr, {9, 8, 7, 6}, {}, {},
                0.1f, 0.1f / 3, L"breit \u00e4", u"\u20ac 5", U"z", L"title",
                &Node::value, &Thing::measure, add_one};
    Node second{22, nullptr}, first{21, &second};
    thing.list = &first;
    std::string word = "word";
    std::vector<int> rest{4, 5};
    int i, total = 12;
    for (i = 0; i < 3; i++) {
        thing.room.top = 70 + i;
        asm volatile("" : : "r"(&thing), "r"(&total), "r"(&word), "r"(&i), "r"(&counter) : "memory");
        use(&thing, i, 1.5, word, total, rest, thing.deep);
    }
    return counter + limits::highest + add_one(RED) > 1000;
}
