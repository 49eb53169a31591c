//! Long lists of a document, made entry by entry as they are written.

use serde::{Serialize, Serializer};

/// A list that is never held as a whole: each time it is written, the function makes its entries anew.
pub(super) struct Stream<F>(pub F);

impl<F, I> Serialize for Stream<F>
where
    F: Fn() -> I,
    I: IntoIterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}
