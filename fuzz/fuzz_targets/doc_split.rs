#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| twinsplit_fuzz::doc_split::run(data));
