//! What happens when the system gives no more memory: a message, an exit code, and a folder in which the same command goes on.
//!
//! A process may run under a bound of its address space (`ulimit -v`) or of a container. What it asks for beyond that is refused in the
//! midst of anything, a growing list of a library as well as a buffer of ours, and Rust ends the process by a signal then: nothing is tidied up, and nobody is told
//! what to do. So the programs have an [`Allocator`] that asks the system's, and where that has nothing wakes the thread
//! that waits for signals, and lets it do what an error does: tidy up, say what happened, and end with the code of an error. That thread has a reserve, from which
//! no other takes, and gives another one back to the system, for what the C library asks for itself. The thread whose memory is missing waits for that end, and never goes on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Memory that nobody uses until there is no other: what tidying up and messages take. Its pages are never written to before, and
/// what is freed there is not given again.
const RESERVE: usize = 1 << 20;

/// The same for the C library, which opens folders with memory of its own.
const SPARE: usize = 1 << 20;

/// So long a thread waits for the one that tidies up, which may wait for a lock that is held here.
const PATIENCE: Duration = Duration::from_secs(5);

/// So long the threads of a run may go on with the memory that they have.
const MOMENT: Duration = Duration::from_millis(300);

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

/// Bytes of the reserve that were given.
static GIVEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this is the thread that tidies up.
    static TIDIES: Cell<bool> = const { Cell::new(false) };
}

/// The allocator of the programs.
pub struct Allocator;

#[allow(unsafe_code)]
mod unsafe_parts {
    use super::{
        Allocator, GlobalAlloc, Layout, RESERVE, RESERVED, SPARE, System, exhausted, from_reserve,
        is_reserved,
    };
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    use std::ptr::{copy_nonoverlapping, null_mut, with_exposed_provenance_mut};
    use std::sync::atomic::Ordering;

    /// What was given, or what the reserve has, or no return.
    #[inline]
    fn given(memory: *mut u8, layout: Layout) -> *mut u8 {
        if memory.is_null() { instead(layout) } else { memory }
    }

    #[cold]
    fn instead(layout: Layout) -> *mut u8 {
        // The reserve was mapped as a whole, and no place in it is given twice.
        from_reserve(layout).map_or_else(|| exhausted(layout.size()), with_exposed_provenance_mut)
    }

    // SAFETY: each call goes on to the system's allocator as it came, and what that gives comes back as it is; what the reserve gives is
    // aligned, zero, nobody else's, and never reaches the system's allocator. Nothing unwinds.
    unsafe impl GlobalAlloc for Allocator {
        #[inline]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's promises are those that are asked for.
            given(unsafe { System.alloc(layout) }, layout)
        }

        #[inline]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as above.
            given(unsafe { System.alloc_zeroed(layout) }, layout)
        }

        #[inline]
        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            if !is_reserved(memory.addr()) {
                // SAFETY: as above.
                unsafe { System.dealloc(memory, layout) }
            }
        }

        #[inline]
        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
            let reserved = is_reserved(memory.addr());
            if !reserved {
                // SAFETY: as above.
                let moved = unsafe { System.realloc(memory, layout, bytes) };
                if !moved.is_null() {
                    return moved;
                }
            }
            // SAFETY: the caller promises that a layout of so many bytes is one.
            let moved = instead(unsafe { Layout::from_size_align_unchecked(bytes, layout.align()) });
            // SAFETY: both hold so many bytes, and the reserve gives no place twice. The system has left the old place as it was.
            unsafe { copy_nonoverlapping(memory, moved, layout.size().min(bytes)) };
            moved
        }
    }

    /// Takes the reserve and what is given back behind it, where there is room for them.
    pub fn reserve() {
        // SAFETY: a new range is asked for, wherever there is room, so no memory in use is touched.
        let range = unsafe {
            mmap_anonymous(null_mut(), RESERVE + SPARE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        };
        RESERVED.store(range.map_or(0, |start| start.expose_provenance()), Ordering::Relaxed);
    }

    /// Gives back what is there for the C library; once, before the process ends.
    pub fn give_back() {
        let start = RESERVED.load(Ordering::Relaxed);
        if start != 0 {
            // SAFETY: the range was mapped above, the reserve ends where it begins, and nobody has ever read or written it.
            let _ = unsafe { munmap(with_exposed_provenance_mut(start + RESERVE), SPARE) };
        }
    }
}

/// Whether a place lies in the reserve.
#[inline]
fn is_reserved(place: usize) -> bool {
    // Without a reserve it begins at 0, where no system's allocator gives anything.
    place.wrapping_sub(RESERVED.load(Ordering::Relaxed)) < RESERVE
}

/// A place in the reserve, for the thread that tidies up alone.
fn from_reserve(layout: Layout) -> Option<usize> {
    let start = RESERVED.load(Ordering::Relaxed);
    if start == 0 || !TIDIES.try_with(Cell::get).unwrap_or(false) {
        return None;
    }
    let place = (start + GIVEN.load(Ordering::Relaxed)).next_multiple_of(layout.align());
    let given = (place - start).checked_add(layout.size()).filter(|given| *given <= RESERVE)?;
    GIVEN.store(given, Ordering::Relaxed);
    Some(place)
}

/// The system has not given so many bytes. Nothing here takes memory: the allocator is what calls it.
#[cold]
fn exhausted(bytes: usize) -> ! {
    let _ = MISSING.compare_exchange(0, bytes.max(1), Ordering::Relaxed, Ordering::Relaxed);
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

/// Waits until other threads wait for memory, too, and makes room for tidying up. What they put down later would be left, and what is
/// given back earlier would be theirs.
pub fn make_room() {
    thread::sleep(MOMENT);
    unsafe_parts::give_back();
}

/// Says what happened, and ends the process.
pub fn end() -> ! {
    say();
    signal_hook::low_level::exit(CODE)
}
