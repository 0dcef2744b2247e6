#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static std::mutex a, b, lock;
static std::shared_mutex table;
static std::recursive_mutex again;
static std::timed_mutex timed;
static std::condition_variable changed;
static std::once_flag once;
static std::atomic<int> made{0};
static int ready, sum, entries;

static int compute(int value) {
    static int initial = ++made;
    std::call_once(once, [] { made++; });
    return value + initial;
}

static void work(int me) {
    if (me) {
        std::scoped_lock both(a, b);
        sum++;
    } else {
        std::lock(b, a);
        sum++;
        b.unlock();
        a.unlock();
    }
    {
        std::shared_lock<std::shared_mutex> reading(table);
        assert(entries >= 0);
    }
    {
        std::unique_lock<std::shared_mutex> writing(table);
        entries++;
    }
    {
        std::lock_guard<std::recursive_mutex> outer(again), inner(again);
    }
    if (timed.try_lock_for(std::chrono::seconds(1)))
        timed.unlock();
    std::unique_lock<std::mutex> held(lock);
    ready++;
    changed.notify_all();
    changed.wait(held, [] { return ready == 3; });
}

int main() {
    std::promise<int> promise;
    std::future<int> promised = promise.get_future();
    auto later = std::async(std::launch::async, compute, 3);
    std::packaged_task<int(int)> task(compute);
    auto result = task.get_future();
    std::thread runner(std::move(task), 4);
    std::thread keeper([&promise] { promise.set_value(5); });
    assert(later.get() == 4 && result.get() == 5 && promised.get() == 5);
    runner.join();
    keeper.join();
    std::thread two(work, 0), three(work, 1);
    {
        std::unique_lock<std::mutex> held(lock);
        ready++;
        changed.notify_all();
        while (!changed.wait_for(held, std::chrono::seconds(5), [] { return ready == 3; })) {
        }
    }
    two.join();
    three.join();
    assert(sum == 2 && entries == 2 && made == 2);
}
