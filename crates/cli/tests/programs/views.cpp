// Values of the C++ standard library, all alive at the call of `look`.
#include <array>
#include <atomic>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

struct Point {
    int x;
    int y;
};

struct Animal {
    virtual ~Animal() {}
    int legs = 4;
};

struct Named {
    virtual ~Named() {}
    int length = 3;
};

struct Dog : Animal, Named {
    int barks = 7;
};

__attribute__((noinline)) void look(int count) {
    std::printf("looked %d\n", count);
}

int main() {
    std::vector<int> numbers{1, 2, 3};
    std::vector<int> none;
    std::vector<bool> truths{true, false, true};
    std::vector<int> many(1000, 5);
    std::vector<Point> points{{1, 2}, {3, 4}};
    std::vector<std::string> words{"one", "a \"quoted\" word"};
    std::vector<std::vector<int>> nested{{1}, {}, {2, 3}};
    std::string text = "hello";
    std::string long_text(300, 'x');
    std::string empty;
    std::u16string wide = u"h\u00e4";
    std::u32string wider = U"h\u00e4";
    std::string_view part(text.data() + 1, 3);
    std::array<int, 3> fixed{4, 5, 6};
    std::deque<int> ends{2, 3};
    ends.push_front(1);
    std::deque<int> long_deque;
    for (int i = 0; i < 150; i++)
        long_deque.push_back(i);
    std::list<long> linked{7, 8, 9};
    std::forward_list<char> forward{'a', 'b'};
    std::map<std::string, int> ages{{"ann", 31}, {"bob", 27}, {"cid", 5}};
    std::map<int, int> large;
    for (int i = 0; i < 20; i++)
        large[(i * 7) % 20] = i;
    std::multimap<int, char> twice{{1, 'a'}, {1, 'b'}};
    std::set<int> sorted{3, 1, 2};
    std::unordered_map<int, std::string> table{{1, "one"}};
    std::unordered_set<int> bag{5};
    std::pair<int, std::string> pair{1, "two"};
    std::tuple<int, double, std::string> triple{1, 2.5, "three"};
    std::tuple<> unit;
    std::optional<int> some = 5;
    std::optional<int> nothing;
    std::variant<int, std::string, double> choice = std::string("chosen");
    std::variant<int, double> other = 2.5;
    std::unique_ptr<Point> unique(new Point{5, 6});
    std::unique_ptr<Point> vacant;
    std::shared_ptr<int> shared = std::make_shared<int>(8);
    std::weak_ptr<int> weak = shared;
    std::weak_ptr<int> expired;
    {
        std::shared_ptr<int> gone = std::make_shared<int>(9);
        expired = gone;
    }
    std::stack<int> stack;
    stack.push(1);
    std::queue<int> queue;
    queue.push(2);
    std::priority_queue<int> heap;
    heap.push(3);
    std::atomic<int> atomic{4};
    std::unique_ptr<Animal> animal(new Dog);
    Dog dog;
    Animal *beast = &dog;
    Named *named = &dog;
    Animal plain;
    look(1);
    std::printf("%d %d %d\n", beast->legs, named->length, plain.legs);
    return 0;
}
