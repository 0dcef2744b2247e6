// Containers of all kinds, and what is no container: what an event reads of them.
#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <stack>
#include <string>
#include <unordered_map>
#include <vector>

struct Item {
    int id;
    std::string name;
};

// A function of the program with the name of what counts elements.
extern "C" __attribute__((noinline, used)) int len(const int *first) { return *first + 1000; }

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
    std::forward_list<int> chained;
    std::array<int, 3> fixed = {7, 8, 9};
    std::array<Item, 2> pair;
    std::array<char, 4> letters = {'a', 'b', 0, 0};
    std::optional<int> perhaps;
    std::optional<std::vector<int>> perhaps_many;
    std::stack<int> stacked;
    std::map<std::string, int> ages;
    Item one;
    int grid[2][2] = {};
    const int *plain = cells;

    __attribute__((noinline)) void add(int id) {
        order.push_back({id, "item"});
        numbers.push_back(id);
        cells[id % 2] = id;
        names[id % 2] = "some";
        text += "x";
        truths.insert(truths.end(), 35, true);
        words.insert(words.end(), 100, "word");
        listed.push_back(id);
        by_id[id].id = id;
        ids.insert(id);
        table[id] = id;
        chained.push_front(id);
        perhaps = id;
        perhaps_many = numbers;
        stacked.push(id);
        ages["ann"] = id;
        one.id = id;
        grid[1][0] = id;
        grid[0][1] = id;
        fixed[0] = id;
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
