// Fibers on stacks side by side in the heap. Each works in calls that it leaves for the
// others in the middle; every third ends them by an exception, every third by a jump.
// With an argument they take turns from the highest stack to the lowest.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <ucontext.h>

enum { COUNT = 6, SIZE = 1 << 16 };

struct Fiber {
    ucontext_t context;
    jmp_buf place;
    int number;
    bool is_done;
};

static Fiber fibers[COUNT];
static ucontext_t home;
static Fiber *current;
static long entered, returned, thrown;

__attribute__((noinline)) static void pause_here() {
    Fiber *fiber = current;
    swapcontext(&fiber->context, &home);
}

__attribute__((noinline)) int work(int number, int depth) {
    volatile int kept = number;
    entered++;
    pause_here(); // mark: pause
    if (depth > 0) {
        int result = work(number, depth - 1);
        __asm__ volatile("" : "+r"(result));
    } else if (number % 3 == 1) {
        throw std::runtime_error("thrown");
    } else if (number % 3 == 2) {
        longjmp(current->place, 1);
    }
    pause_here(); // mark: again
    kept = kept + 1;
    returned++;
    return kept;
}

static void run_fiber(int number) {
    Fiber *fiber = current;
    if (!setjmp(fiber->place)) {
        try {
            work(number, 2);
        } catch (const std::exception &) {
            thrown++;
            pause_here();
        }
    }
    fiber->is_done = true;
}

int main(int argc, char **) {
    char *stacks = static_cast<char *>(malloc(COUNT * SIZE));
    for (int i = 0; i < COUNT; i++) {
        Fiber &fiber = fibers[i];
        fiber.number = i;
        getcontext(&fiber.context);
        int place = argc > 1 ? COUNT - 1 - i : i;
        fiber.context.uc_stack.ss_sp = stacks + place * SIZE;
        fiber.context.uc_stack.ss_size = SIZE;
        fiber.context.uc_link = &home;
        makecontext(&fiber.context, reinterpret_cast<void (*)()>(run_fiber), 1, i);
    }
    for (bool any = true; any;) {
        any = false;
        for (Fiber &fiber : fibers) {
            if (fiber.is_done)
                continue;
            any = true;
            current = &fiber;
            swapcontext(&home, &fiber.context);
        }
    }
    printf("entered %ld returned %ld unwound %ld thrown %ld\n", entered, returned,
           entered - returned, thrown);
    free(stacks);
}
