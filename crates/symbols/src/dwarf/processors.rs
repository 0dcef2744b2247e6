//! Parallel work on all processors.

/// The maximum number of threads; more would contend.
const THREADS_MAX: usize = 16;

/// Returns the number of threads to use.
pub(super) fn thread_count() -> usize {
    let processors = std::thread::available_parallelism();
    processors.map_or(1, usize::from).min(THREADS_MAX)
}

/// Runs `work` on all processors at once and returns the results; the threads take items
/// from a shared queue. The result of a thread that panics is missing.
pub(crate) fn on_all_processors<T: Send>(work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (1..thread_count()).map(|_| scope.spawn(&work)).collect();
        let mut results = vec![work()];
        results.extend(threads.into_iter().filter_map(|it| it.join().ok()));
        results
    })
}
