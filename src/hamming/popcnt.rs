//! Counting bits with the processor's own instruction where it has one.
//!
//! x86-64 as compilers take it by default has none: a count is twelve operations there instead of one. Most that a search and a join do
//! with a fingerprint is to count bits, so their innermost part is compiled twice, and the processor is asked once for a group of queries.

/// What is compiled for both.
pub trait Work {
    /// Does it. To be inlined, or it is compiled once only.
    fn run(self);
}

/// Does work, by the instruction if there is one.
#[inline]
pub fn run(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        return x86::run(work);
    }
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use super::Work;

    pub fn run(work: impl Work) {
        // SAFETY: the caller has asked whether the processor has the instruction.
        unsafe { with_popcnt(work) }
    }

    #[target_feature(enable = "popcnt")]
    fn with_popcnt(work: impl Work) {
        work.run();
    }
}
