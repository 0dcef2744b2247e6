// Objects of the standard library, none of whose member functions has code of its own.
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <stack>
#include <string>
#include <vector>

__attribute__((noinline)) void look() { asm volatile("" : : : "memory"); }

int main() {
    std::array<int, 3> three{7, 8, 9};
    std::span<int> some{three};
    std::span<int, 3> all{three};
    std::map<std::string, int> ages{{"ann", 40}, {"bob", 41}};
    std::optional<int> none;
    std::optional<int> one = 5;
    std::priority_queue<int> heap;
    heap.push(3);
    heap.push(9);
    std::stack<int> stack;
    stack.push(1);
    stack.push(2);
    std::shared_ptr<std::vector<int>> shared = std::make_shared<std::vector<int>>(4, 6);
    look();
    return 0;
}
