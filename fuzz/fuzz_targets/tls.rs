#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twinsplit_fuzz::tls::run(data));
