#![no_main]

use std::sync::Once;

/// The library ends in panics over damaged files, which the source catches; the fuzzer's hook would end the process before that.
static HOOK: Once = Once::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    HOOK.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    twinsplit_fuzz::arrow::run(data);
});
