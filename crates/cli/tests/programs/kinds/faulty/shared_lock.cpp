// A reader that takes the lock again while a writer waits, and the other way round: shared and
// exclusive locks in opposite orders.
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex table;
static std::mutex journal;
static int entries;

int main() {
    std::thread reader([] {
        std::shared_lock<std::shared_mutex> held(table);
        std::lock_guard<std::mutex> writing(journal);
        entries++;
    });
    std::thread writer([] {
        std::lock_guard<std::mutex> writing(journal);
        std::unique_lock<std::shared_mutex> held(table);
        entries++;
    });
    reader.join();
    writer.join();
}
