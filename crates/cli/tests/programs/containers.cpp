// Containers of all kinds, and what is no container: what an event reads of them.
#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

struct Item {
    int id;
    std::string name;
};

struct Store {
    std::vector<Item> order;
    std::vector<int> numbers;
    std::vector<bool> truths;
    std::deque<std::string> words;
    std::list<int> listed;
    std::map<int, Item> by_id;
    std::set<int> ids;
    std::unordered_map<int, int> table;
    Item items[2];
    std::string names[2];
    int cells[2];
    std::string text;

    __attribute__((noinline)) void add(int id) {
        order.push_back({id, "item"});
        numbers.push_back(id);
        cells[id % 2] = id;
        names[id % 2] = "some";
        text += "x";
    }
};

__attribute__((noinline)) long by_reference(const std::vector<int> &all) {
    asm volatile("" ::: "memory");
    return (long)all.size();
}

int main() {
    Store store;
    for (int id = 0; id < 3; id++) {
        store.add(id);
        by_reference(store.numbers);
    }
}
