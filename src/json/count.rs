//! Counts strings without building them.

use super::{Kind, Raw};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// How many strings an array holds, without building them; `None` if it holds anything else.
#[must_use]
pub fn string_count(raw: &Raw) -> Option<u64> {
    struct Count(u64);
    impl<'de> Deserialize<'de> for Count {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct CountVisitor;
            impl<'de> Visitor<'de> for CountVisitor {
                type Value = Count;
                fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                    f.write_str("an array of strings")
                }
                fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Count, A::Error> {
                    let mut count = 0;
                    while let Some(element) = seq.next_element::<&Raw>()? {
                        if super::kind(element) != Kind::String {
                            return Err(de::Error::custom("not a string"));
                        }
                        count += 1;
                    }
                    Ok(Count(count))
                }
            }
            deserializer.deserialize_seq(CountVisitor)
        }
    }
    serde_json::from_str::<Count>(raw.get()).ok().map(|count| count.0)
}
