//! Decimals in [0, 2) as whole numbers of their last place: what thresholds and bounds are read from and written as.
//!
//! A text is read digit by digit, so that the number is the one that was typed and no binary one beside it.

/// The number of units of the last of so many places, such as 7,000 for `0.7` with four; `None` when the text is anything but
/// `0.3`, `.3`, `0`, `1` or `1.0` with at most so many places: no sign, no exponent.
pub fn parse(text: &str, places: usize) -> Option<u32> {
    let (whole, digits) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None if text.is_empty() => return None,
        None => (text, ""),
    };
    let whole = match whole {
        "" | "0" => 0,
        "1" => one(places),
        _ => return None,
    };
    if digits.len() > places || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(whole + format!("{digits:0<places$}").parse::<u32>().ok()?)
}

/// The shortest decimal of so many units, 0 to 1: `0`, `0.7`, `1`.
pub fn show(units: u32, places: usize) -> String {
    match units {
        0 => "0".to_owned(),
        units if units == one(places) => "1".to_owned(),
        units => format!("0.{}", format!("{units:0places$}").trim_end_matches('0')),
    }
}

/// 1 in units of the last of so many places, 9 at most.
fn one(places: usize) -> u32 {
    10_u32.pow(places as u32)
}

/// The greatest common divisor.
pub fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
