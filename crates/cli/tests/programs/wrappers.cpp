// Values of the standard library around others, and iterators; all alive at the call of
// `look`.
#include <any>
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <complex>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
#if __cplusplus > 201703L
#include <span>
#endif

struct point {
    int x, y;
};

struct counting {
    int calls;
    void operator()(point *p) { delete p; }
};

__attribute__((noinline)) std::variant<int, double> one_of(int n) {
    if (n)
        return n;
    return 2.5;
}

__attribute__((noinline)) std::list<int> listed(int n) { return {n, 2, 3}; }

__attribute__((noinline)) std::string named(int n) { return n ? "short" : "long"; }

__attribute__((noinline)) std::chrono::seconds waited(int n) { return std::chrono::seconds(n); }

__attribute__((noinline)) void look(int count) { printf("looked %d\n", count); }

int main() {
    std::unique_ptr<point, counting> with_deleter(new point{3, 4}, counting{5});
    std::shared_ptr<int[3]> shared_array(new int[3]{1, 2, 3});
    std::any nothing, number = 5;
    std::bitset<10> bits(0x155);
    std::bitset<100> many;
    many.set(70);
    std::array<int, 3> array = {1, 2, 3};
    std::array<int, 0> none = {};
    std::filesystem::path path = "/usr/lib";
    std::chrono::milliseconds milliseconds(1500);
    std::chrono::hours hours(2);
    std::chrono::duration<double> fraction(1.5);
    std::chrono::duration<int, std::ratio<1, 3>> thirds(4);
    std::chrono::steady_clock::time_point instant{std::chrono::seconds(6)};
    std::complex<double> complex(1, -2);
    std::atomic<bool> truth(true);
    std::atomic<int *> pointer(&array[1]);
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    std::vector<bool> truths = {true, false, true, true};
    std::vector<bool>::reference bit = truths[2];
    auto truth_at = truths.begin() + 1;
    std::vector<int> numbers = {10, 20, 30, 40};
    auto number_at = numbers.begin() + 1;
    auto last = numbers.rbegin();
    std::map<std::string, int> ages = {{"ann", 1}, {"bob", 2}};
    auto age = ages.begin();
    std::set<int> sorted = {5, 6};
    auto sorted_at = sorted.begin();
    std::list<int> linked = {1, 2, 3, 4};
    auto link = ++linked.begin();
    std::forward_list<int> forward = {1, 2};
    auto forward_at = forward.begin(), forward_end = forward.end();
    std::unordered_map<int, int> table = {{1, 2}};
    auto entry = table.begin(), no_entry = table.end();
    std::deque<int> ends = {1, 2, 3, 4, 5};
    auto end_at = ends.begin() + 2;
    std::variant<std::monostate, int> either;
    std::variant<int, std::string> chosen = "text";
    std::chrono::seconds time = waited(1);
    look(one_of(1).index() + listed(1).size() + named(1).size() + time.count());
    std::variant<int, double> other = one_of(0);
    printf("%d %d %d\n", with_deleter->x + shared_array[0] + nothing.has_value(),
           number.has_value() + bits[0] + (int)many.count() + array[0] + (int)none.size(),
           (int)path.native().size() + (int)milliseconds.count() + (int)hours.count());
    printf("%d %d %d\n", (int)fraction.count() + thirds.count() + (int)complex.real(),
           (int)instant.time_since_epoch().count() + truth.load() + *pointer.load(),
           flag.test_and_set() + bit + *truth_at + *number_at + *last + age->second);
    printf("%d %d %d\n", *sorted_at + *link + *forward_at + (forward_end == forward.end()),
           entry->second + (no_entry == table.end()) + *end_at + (int)either.index(),
           (int)chosen.index() + (int)other.index());
    return 0;
}
