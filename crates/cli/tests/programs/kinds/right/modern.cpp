#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <stop_token>
#include <thread>

static std::atomic<int> stage{0}, turns{0};
static std::atomic_flag flag;
static std::latch started(2);
static std::barrier step(2);
static std::atomic_flag taken;
static std::atomic<int> items{0};
static int total, cells[2];

static void work(int me) {
    started.arrive_and_wait();
    cells[me] = 1;
    step.arrive_and_wait();
    assert(cells[1 - me] == 1);
    while (taken.test_and_set())
        taken.wait(true);
    total++;
    taken.clear();
    taken.notify_one();
    items++;
    items.notify_all();
    flag.wait(false);
    stage.fetch_add(1);
    stage.notify_all();
}

int main() {
    std::jthread one(work, 0), two(work, 1);
    std::jthread stopped([](std::stop_token stop) {
        while (!stop.stop_requested())
            std::this_thread::yield();
        turns++;
    });
    for (int seen = items; seen != 2; seen = items)
        items.wait(seen);
    flag.test_and_set();
    flag.notify_all();
    for (int seen = stage; seen != 2; seen = stage)
        stage.wait(seen);
    stopped.request_stop();
    stopped.join();
    one.join();
    two.join();
    assert(total == 2 && turns == 1);
}
