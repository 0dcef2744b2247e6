//! Work on all processors.

/// More threads than this get into each other's way.
const THREADS_MAX: usize = 16;

/// How many threads share a work.
pub(super) fn thread_count() -> usize {
    let processors = std::thread::available_parallelism();
    processors.map_or(1, usize::from).min(THREADS_MAX)
}

/// Does the same on all processors at once; each takes what it does from what all
/// of them share. One that fails gives nothing.
pub(super) fn on_all_processors<T: Send>(work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..thread_count()).map(|_| scope.spawn(&work)).collect();
        let mut results = vec![work()];
        results.extend(threads.into_iter().filter_map(|it| it.join().ok()));
        results
    })
}
