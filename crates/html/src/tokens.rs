//! The tokens of a page, as the HTML Standard's own tokenizer finds them (the crate `html5gum`).
//!
//! Whoever reads pages is called by way of one trait object: the tokenizer is long when compiled, and is so once for each kind of
//! emitter that it is given.

pub use html5gum::State;
pub use html5gum::emitters::callback::CallbackEvent as Token;

use html5gum::emitters::callback::{Callback, CallbackEmitter};
use html5gum::{Emitter, ForwardingEmitter, Span, Tokenizer};
use std::convert::Infallible;

/// Who reads the tokens of a page.
pub trait TokenReader {
    /// The next token.
    fn read(&mut self, token: Token<'_>);

    /// Asked behind each tag: how what follows it is read, if not as before.
    fn state(&mut self) -> Option<State> {
        None
    }
}

/// Reads a page of ASCII-compatible bytes to its end.
pub fn read(page: &[u8], reader: &mut dyn TokenReader) {
    let Ok(()) = Tokenizer::new_with_emitter(page, Tokens(CallbackEmitter::new(Reader(reader)))).finish();
}

struct Reader<'r>(&'r mut dyn TokenReader);

impl Callback<Infallible, ()> for Reader<'_> {
    fn handle_event(&mut self, token: Token<'_>, _: Span<()>) -> Option<Infallible> {
        self.0.read(token);
        None
    }
}

/// The tokens on their way to the reader; a tag may change how what follows it is read.
struct Tokens<'r>(CallbackEmitter<Reader<'r>>);

impl ForwardingEmitter for Tokens<'_> {
    type Token = Infallible;

    fn inner(&mut self) -> &mut impl Emitter<Token = Infallible> {
        &mut self.0
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        // Nothing of its own: states are switched here.
        let state = self.0.emit_current_tag();
        state.or_else(|| self.0.callback_mut().0.state())
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }
}
