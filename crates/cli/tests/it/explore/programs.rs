//! Small programs with a fault that depends on the order of their threads, and some without.

use juror_testing::Fixture;

/// A program, and what is said of it; nothing if it is right.
pub struct Row {
    pub name: &'static str,
    pub source: &'static str,
    pub said: &'static [&'static str],
}

const fn row(name: &'static str, source: &'static str, said: &'static [&'static str]) -> Row {
    Row { name, source, said }
}

/// The beginning of all programs in C.
pub const HEAD: &str = r"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define LOCK(m) pthread_mutex_lock(&m)
#define UNLOCK(m) pthread_mutex_unlock(&m)
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready, shared;
static void *one(void *);
static void *two(void *);
";

/// Starts both threads and waits for them; what follows is checked at the end.
const TAIL: &str = r"
static void both(void) {
    pthread_t first, second;
    pthread_create(&first, 0, one, 0);
    pthread_create(&second, 0, two, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
}
";

/// Returns a fixture of a program in C.
pub fn in_c(row: &Row) -> Fixture {
    let source = format!("{HEAD}{TAIL}{}", row.source);
    Fixture::c(&format!("explored-{}", row.name), &source).argument("-pthread")
}

pub const FAULTY: &[Row] = &[
    row(
        "opposite-locks",
        "static void *one(void *x) { LOCK(a); LOCK(b); UNLOCK(b); UNLOCK(a); return x; }
         static void *two(void *x) { LOCK(b); LOCK(a); UNLOCK(a); UNLOCK(b); return x; }
         int main(void) { both(); return 0; }",
        &["DEADLOCK\n", "waits for a, which thread 2 has", "waits for b, which thread 3 has"],
    ),
    row(
        "lost-update",
        "static void *one(void *x) { for (int i = 0; i < 2; i++) shared++; return x; }
         static void *two(void *x) { return one(x); }
         int main(void) { both(); assert(shared == 4); return 0; }",
        &["CRASH  SIGABRT  thread 1 (main"],
    ),
    row(
        "lost-wake-up",
        "static void *one(void *x) { if (!ready) { LOCK(a); pthread_cond_wait(&condition, &a); UNLOCK(a); } return x; }
         static void *two(void *x) { LOCK(a); ready = 1; pthread_cond_signal(&condition); UNLOCK(a); return x; }
         int main(void) { both(); return 0; }",
        &["DEADLOCK\n", "waits for the end of thread 2", "waits for condition"],
    ),
    row(
        "wait-without-loop",
        "static void *one(void *x) { LOCK(a); if (!ready) assert(pthread_cond_wait(&condition, &a) == 0); assert(ready); UNLOCK(a); return x; }
         static void *two(void *x) { LOCK(a); ready = 1; pthread_cond_signal(&condition); UNLOCK(a); return x; }
         int main(void) { both(); return 0; }",
        &["CRASH  SIGABRT  thread 2 (one"],
    ),
    row(
        "time-out-first",
        "static void *one(void *x) {
             struct timespec until;
             clock_gettime(CLOCK_REALTIME, &until);
             until.tv_sec += 60;
             LOCK(a);
             int error = 0;
             while (!ready && error != ETIMEDOUT) error = pthread_cond_timedwait(&condition, &a, &until);
             assert(ready);
             UNLOCK(a);
             return x;
         }
         static void *two(void *x) { LOCK(a); ready = 1; pthread_cond_signal(&condition); UNLOCK(a); return x; }
         int main(void) { both(); return 0; }",
        &["CRASH  SIGABRT  thread 2 (one"],
    ),
    row(
        "double-checked",
        "static struct pair { int first, second; } *volatile made;
         static void *one(void *x) {
             if (!made) {
                 LOCK(a);
                 if (!made) { struct pair *p = calloc(1, sizeof *p); made = p; p->first = 1; p->second = 1; }
                 UNLOCK(a);
             }
             assert(made->first && made->second);
             return x;
         }
         static void *two(void *x) { return one(x); }
         int main(void) { both(); return 0; }",
        &["CRASH  SIGABRT"],
    ),
    row(
        "check-then-act",
        "static void *one(void *x) {
             LOCK(a); int has_room = shared < 1; UNLOCK(a);
             if (has_room) { LOCK(a); assert(shared < 1); shared++; UNLOCK(a); }
             return x;
         }
         static void *two(void *x) { return one(x); }
         int main(void) { both(); return 0; }",
        &["CRASH  SIGABRT"],
    ),
    row(
        "endless-spin",
        "static volatile int stop;
         static void *one(void *x) { while (!stop) sched_yield(); return x; }
         static void *two(void *x) { if (!ready) stop = 1; return x; }
         int main(void) { pthread_t first, second; pthread_create(&first, 0, one, 0); pthread_create(&second, 0, two, 0);
             ready = 1; pthread_join(first, 0); pthread_join(second, 0); return 0; }",
        &["DOES NOT END"],
    ),
    row(
        "three-of-five",
        "static pthread_mutex_t ring[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
         static void *turn(void *x) { long i = (long)x; LOCK(ring[i]); LOCK(ring[(i + 1) % 3]); UNLOCK(ring[(i + 1) % 3]); UNLOCK(ring[i]); return 0; }
         static void *one(void *x) { for (;;) { LOCK(gate); shared++; UNLOCK(gate); if (ready) return x; } }
         static void *two(void *x) { return one(x); }
         int main(void) { pthread_t t[5]; for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, turn, (void *)i);
             pthread_create(&t[3], 0, one, 0); pthread_create(&t[4], 0, two, 0);
             for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
             LOCK(gate); ready = 1; UNLOCK(gate); pthread_join(t[3], 0); pthread_join(t[4], 0); return 0; }",
        &["DEADLOCK  of some threads; others go on\n", "which thread 2 has", "which thread 3 has", "which thread 4 has"],
    ),
    row(
        "handed-through-a-pipe",
        "static int ends[2];
         static void *one(void *x) { char c; assert(read(ends[0], &c, 1) == 1); assert(shared == 2); return x; }
         static void *two(void *x) { char c = 1; shared = 1; assert(write(ends[1], &c, 1) == 1); shared = 2; return x; }
         int main(void) { assert(pipe(ends) == 0); both(); return 0; }",
        &["CRASH  SIGABRT  thread 2 (one"],
    ),
];

pub const RIGHT: &[Row] = &[
    row(
        "gate",
        "static void *one(void *x) { LOCK(gate); LOCK(a); LOCK(b); UNLOCK(b); UNLOCK(a); UNLOCK(gate); return x; }
         static void *two(void *x) { LOCK(gate); LOCK(b); LOCK(a); UNLOCK(a); UNLOCK(b); UNLOCK(gate); return x; }
         int main(void) { both(); return 0; }",
        &[],
    ),
    row(
        "fork-and-join",
        "static void *one(void *x) { LOCK(a); LOCK(b); UNLOCK(b); UNLOCK(a); return x; }
         static void *two(void *x) { LOCK(b); LOCK(a); UNLOCK(a); UNLOCK(b); return x; }
         int main(void) { pthread_t t; pthread_create(&t, 0, one, 0); pthread_join(t, 0); pthread_create(&t, 0, two, 0); pthread_join(t, 0); return 0; }",
        &[],
    ),
    row(
        "semaphores",
        "static sem_t full, empty; static int items[2], in, out;
         static void *one(void *x) { for (int i = 1; i <= 4; i++) { sem_wait(&empty); items[in] = i; in = !in; sem_post(&full); } return x; }
         static void *two(void *x) { for (int i = 1; i <= 4; i++) { sem_wait(&full); assert(items[out] == i); out = !out; sem_post(&empty); } return x; }
         int main(void) { sem_init(&full, 0, 0); sem_init(&empty, 0, 2); both(); return 0; }",
        &[],
    ),
    row(
        "barrier",
        "static pthread_barrier_t barrier; static int came[2];
         static void *one(void *x) { came[0] = 1; pthread_barrier_wait(&barrier); assert(came[1]); return x; }
         static void *two(void *x) { came[1] = 1; pthread_barrier_wait(&barrier); assert(came[0]); return x; }
         int main(void) { pthread_barrier_init(&barrier, 0, 2); both(); return 0; }",
        &[],
    ),
    row(
        "robust-mutex",
        "static pthread_mutex_t robust;
         static void *one(void *x) { LOCK(robust); return x; }
         static void *two(void *x) { int error = LOCK(robust); if (error == EOWNERDEAD) pthread_mutex_consistent(&robust); else assert(!error); UNLOCK(robust); return x; }
         int main(void) { pthread_mutexattr_t how; pthread_mutexattr_init(&how); pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
             pthread_mutex_init(&robust, &how); both(); return 0; }",
        &[],
    ),
    row(
        "timed-wait",
        "static void *one(void *x) {
             struct timespec until;
             clock_gettime(CLOCK_REALTIME, &until);
             until.tv_sec += 60;
             LOCK(a);
             while (!ready && pthread_cond_timedwait(&condition, &a, &until) == 0) {}
             UNLOCK(a);
             return x;
         }
         static void *two(void *x) { LOCK(a); ready = 1; pthread_cond_signal(&condition); UNLOCK(a); return x; }
         int main(void) { both(); return 0; }",
        &[],
    ),
    row(
        "recursive-mutex",
        "static pthread_mutex_t again;
         static void *one(void *x) { LOCK(again); LOCK(again); shared++; UNLOCK(again); UNLOCK(again); return x; }
         static void *two(void *x) { return one(x); }
         int main(void) { pthread_mutexattr_t how; pthread_mutexattr_init(&how); pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
             pthread_mutex_init(&again, &how); both(); assert(shared == 2); return 0; }",
        &[],
    ),
    row(
        "lock-that-is-refused",
        "static pthread_mutex_t checked;
         static void *twice(void *x) { LOCK(checked); assert(LOCK(checked) == EDEADLK); UNLOCK(checked); return x; }
         static void *one(void *x) { LOCK(checked); shared++; UNLOCK(checked); return x; }
         static void *two(void *x) { return one(x); }
         int main(void) { pthread_mutexattr_t how; pthread_mutexattr_init(&how); pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
             pthread_mutex_init(&checked, &how); pthread_t t; pthread_create(&t, 0, twice, 0); pthread_join(t, 0); both(); return 0; }",
        &[],
    ),
    row(
        "pipe",
        "static int ends[2];
         static void *one(void *x) { for (char i = 0; i < 3; i++) { char c; assert(read(ends[0], &c, 1) == 1); assert(c == i); } return x; }
         static void *two(void *x) { for (char i = 0; i < 3; i++) assert(write(ends[1], &i, 1) == 1); return x; }
         int main(void) { assert(pipe(ends) == 0); both(); return 0; }",
        &[],
    ),
    row(
        "awaited-signal",
        "static pthread_t first_thread; static sigset_t set;
         static void *one(void *x) { pthread_kill(first_thread, SIGUSR1); return x; }
         static void *two(void *x) { return x; }
         int main(void) { int signal = 0; sigemptyset(&set); sigaddset(&set, SIGUSR1); pthread_sigmask(SIG_BLOCK, &set, 0);
             first_thread = pthread_self(); pthread_t t; pthread_create(&t, 0, one, 0); sigwait(&set, &signal); assert(signal == SIGUSR1);
             pthread_join(t, 0); (void)both; return 0; }",
        &[],
    ),
    row(
        "sleeps-in-order",
        "static void *one(void *x) { usleep(1000); return x; }
         static void *two(void *x) { LOCK(a); shared++; UNLOCK(a); return x; }
         int main(void) { both(); assert(shared == 1); return 0; }",
        &[],
    ),
];

pub const IN_RUST: &str = r"
use std::sync::{Arc, Mutex};
use std::thread;
fn main() {
    let first = Arc::new(Mutex::new(1));
    let second = Arc::new(Mutex::new(2));
    let (one, two) = (first.clone(), second.clone());
    let there = thread::spawn(move || {
        let one = one.lock().unwrap();
        let two = two.lock().unwrap();
        assert_eq!(*one + *two, 3);
    });
    let back = thread::spawn(move || {
        let two = second.lock().unwrap();
        let one = first.lock().unwrap();
        assert_eq!(*one + *two, 3);
    });
    there.join().unwrap();
    back.join().unwrap();
}
";

pub const IN_CPP: &str = r"
#include <mutex>
#include <thread>
std::mutex a, b;
int n;
int main() {
    std::thread there([] { std::lock_guard<std::mutex> x(a); std::lock_guard<std::mutex> y(b); n++; });
    std::thread back([] { std::lock_guard<std::mutex> y(b); std::lock_guard<std::mutex> x(a); n++; });
    there.join();
    back.join();
}
";
