//! The text of pages of HTML: all that is visible ([`visible`]), or the main content ([`article()`]).

mod article;
mod text;
pub mod tokens;

pub use article::article;
pub use text::{Wanted, visible};

/// What `article` has learned from: the blocks of pages and what is asked of them.
pub mod learn {
    pub use crate::article::{Example, NAMES, examples};
}
