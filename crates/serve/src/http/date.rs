//! The time as heads of answers have it.

use std::time::{SystemTime, UNIX_EPOCH};

/// The date of this second, which is written once in each.
#[derive(Debug, Default)]
pub(crate) struct Date {
    second: Option<u64>,
    text: String,
}

impl Date {
    /// Now.
    pub fn now(&mut self) -> &str {
        let second = SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs());
        if second.is_none() || self.second != second {
            let printer = jiff::fmt::rfc2822::DateTimePrinter::new();
            // Every year that a clock has is one that can be written.
            self.text = printer.timestamp_to_rfc9110_string(&jiff::Timestamp::now()).unwrap_or_default();
            self.second = second;
        }
        &self.text
    }
}
