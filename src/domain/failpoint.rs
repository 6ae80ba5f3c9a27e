//! Where the tests that kill the server do it: at the k-th time that a named durable step is reached. Whoever
//! makes something durable names its steps here; without the feature `failpoints` nothing is compiled in.

/// `AGENA_FAILPOINT=<name>:<k>` ends the process here, as suddenly as a kill would: nothing is flushed,
/// no destructor runs.
#[cfg(feature = "failpoints")]
pub fn reach(name: &str) {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static PLAN: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let plan = std::env::var("AGENA_FAILPOINT").ok()?;
        let (name, k) = plan.split_once(':')?;
        Some((name.to_owned(), k.parse().ok()?))
    });
    static REACHED: AtomicU64 = AtomicU64::new(0);

    if let Some((_, k)) = PLAN.as_ref().filter(|plan| plan.0 == name)
        && REACHED.fetch_add(1, Ordering::Relaxed) + 1 == *k
    {
        std::process::abort();
    }
}

#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub fn reach(_name: &str) {}
