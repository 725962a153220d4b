//! What happens when the system gives no more memory: a message, an exit code, and a folder in which the same command goes on.
//!
//! A process may run under a bound of its address space (`ulimit -v`) or of a container. What it asks for beyond that is refused in the
//! midst of anything, a growing list of a library as well as a buffer of ours, and Rust ends the process by a signal then: nothing is tidied up, and nobody is told
//! what to do. So the programs have an [`Allocator`] that asks the system's, and where that has nothing gives back a reserve, wakes the thread
//! that waits for signals, and lets it do what an error does: tidy up, say what happened, and end with the code of an error. The thread whose memory is
//! missing waits for that end, and never goes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Memory that nobody uses until there is no other: what tidying up and messages take. Its pages are never written to before.
const RESERVE: usize = 1 << 20;

/// So long a thread waits for the one that tidies up, which may wait for a lock that is held here.
const PATIENCE: Duration = Duration::from_secs(5);

/// The signal that wakes the thread that tidies up.
pub const EXHAUSTED: i32 = signal_hook::consts::SIGUSR1;

/// The code of an error of the system: see docs/operating.md.
const CODE: i32 = 1;

/// Bytes that were asked for when there were none; 0 while there are.
static MISSING: AtomicUsize = AtomicUsize::new(0);

/// Whether somebody tidies up.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Where the reserve begins; 0 where there is none.
static RESERVED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this is the thread that tidies up.
    static TIDIES: Cell<bool> = const { Cell::new(false) };
}

/// The allocator of the programs.
pub struct Allocator;

#[allow(unsafe_code)]
mod unsafe_parts {
    use super::{Allocator, GlobalAlloc, Layout, RESERVE, RESERVED, System, exhausted};
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    use std::ptr::{null_mut, with_exposed_provenance_mut};
    use std::sync::atomic::Ordering;

    /// What was given, or no return.
    #[inline]
    fn given(memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() { exhausted(bytes) } else { memory }
    }

    // SAFETY: each call goes on to the system's allocator as it came, and what that gives comes back as it is. Nothing unwinds.
    unsafe impl GlobalAlloc for Allocator {
        #[inline]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's promises are those that are asked for.
            given(unsafe { System.alloc(layout) }, layout.size())
        }

        #[inline]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            given(unsafe { System.alloc_zeroed(layout) }, layout.size())
        }

        #[inline]
        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: as above.
            unsafe { System.dealloc(memory, layout) }
        }

        #[inline]
        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
            // SAFETY: as above.
            given(unsafe { System.realloc(memory, layout, bytes) }, bytes)
        }
    }

    /// Takes the reserve, where there is room for it.
    pub fn reserve() {
        // SAFETY: a new range is asked for, wherever there is room, so no memory in use is touched.
        let range = unsafe {
            mmap_anonymous(null_mut(), RESERVE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        RESERVED.store(range.map_or(0, |start| start.expose_provenance()), Ordering::Relaxed);
    }

    /// Gives the reserve back, once.
    pub fn give_back() {
        let start = RESERVED.swap(0, Ordering::Relaxed);
        if start != 0 {
            // SAFETY: the range was mapped above, nobody has ever read or written it, and it is unmapped once.
            let _ = unsafe { munmap(with_exposed_provenance_mut(start), RESERVE) };
        }
    }
}

/// The system has not given so many bytes. Nothing here takes memory: the allocator is what calls it.
#[cold]
fn exhausted(bytes: usize) -> ! {
    let _ = MISSING.compare_exchange(0, bytes.max(1), Ordering::Relaxed, Ordering::Relaxed);
    unsafe_parts::give_back();
    let tidies = TIDIES.try_with(Cell::get).unwrap_or(true);
    if !tidies && WATCHED.load(Ordering::Acquire) {
        let _ = signal_hook::low_level::raise(EXHAUSTED);
        thread::sleep(PATIENCE);
    }
    end()
}

/// Says what happened.
fn say() {
    let megabytes = MISSING.load(Ordering::Relaxed).div_ceil(1 << 20);
    let mut text = [0; 512];
    let mut rest = &mut text[..];
    let _ = writeln!(
        rest,
        "error: out of memory: the system gave none when {megabytes} MB more were asked for; `ulimit -v` shows a bound of the address space, and a \
         container or a scheduler may have its own. Raise that, or give a smaller --memory or fewer --threads: the address space of a run is larger \
         than what it holds"
    );
    let left = rest.len();
    let mut text = &text[..text.len() - left];
    while let Ok(written @ 1..) = rustix::io::write(rustix::stdio::stderr(), text) {
        text = &text[written.min(text.len())..];
    }
}

/// From now on this thread tidies up when the system gives no more memory: it is sent [`EXHAUSTED`], and calls [`end`] after that.
pub fn tidies_here() {
    unsafe_parts::reserve();
    TIDIES.set(true);
    WATCHED.store(true, Ordering::Release);
}

/// Whether the system has given no memory: the signal may come from elsewhere.
pub fn is_exhausted() -> bool {
    MISSING.load(Ordering::Relaxed) > 0
}

/// Says what happened, and ends the process.
pub fn end() -> ! {
    say();
    signal_hook::low_level::exit(CODE)
}
