// A vector grows while another thread looks at its end.
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex lock;
static std::vector<int> values{1, 2, 3};

static std::size_t last() {
    std::lock_guard<std::mutex> held(lock);
    return values.size() - 1;
}

static int look() {
    std::size_t at = last();
    std::lock_guard<std::mutex> held(lock);
    return values.at(at);
}

int main() {
    std::thread shrink([] {
        std::lock_guard<std::mutex> held(lock);
        values.pop_back();
    });
    std::thread read([] { look(); });
    shrink.join();
    read.join();
}
