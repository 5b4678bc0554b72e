//! `messages` as posted, read in one pass: of a history of many MiB only borrowed pieces of a few rows are kept.
//!
//! What counts are rows of people, assistants and tools. Reasoning, activities and instructions are walked over, and so
//! is whatever else a client may keep there.

use std::{collections::VecDeque, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// Most tool messages looked at: the newest.
const MAX_RESULTS: usize = 256;

/// A row and its place in the list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) index: usize,
    pub(super) row: Row<'a>,
}

/// What a row says, not looked into.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row<'a> {
    pub(super) id: Option<&'a RawValue>,
    pub(super) role: Option<&'a RawValue>,
    pub(super) content: Option<&'a RawValue>,
    pub(super) tool_call_id: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    pub(super) is_object: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
    Tool,
    /// Of no matter here.
    Other,
}

/// What a list of messages comes to.
#[derive(Debug, Default)]
pub(super) struct Rows<'a> {
    /// The last row of role user, wherever it is.
    pub(super) user: Option<Placed<'a>>,
    /// Nothing that counts comes after it.
    pub(super) ends_with_user: bool,
    /// The very last row, whatever it is: for saying what is wrong with it.
    pub(super) last: Option<Placed<'a>>,
    pub(super) is_list: bool,
    results: VecDeque<Placed<'a>>,
    /// Index of the last row of role user or assistant.
    spoken: Option<usize>,
}

impl<'a> Rows<'a> {
    pub(super) fn none() -> Self {
        Self { is_list: true, ..Self::default() }
    }

    /// Tool messages that may be news, oldest first. Of a person's new message: all before it, since it may be the first
    /// that is sent after they came. Else those that nobody has spoken after.
    pub(super) fn results(&self) -> impl Iterator<Item = &Placed<'a>> {
        let all = self.ends_with_user;
        self.results.iter().filter(move |placed| all || self.spoken.is_none_or(|spoken| placed.index > spoken))
    }

    fn add(&mut self, row: Row<'a>) {
        let index = self.last.map_or(0, |last| last.index + 1);
        let placed = Placed { index, row };
        self.last = Some(placed);
        match row.role() {
            Role::User => {
                self.user = Some(placed);
                self.spoken = Some(index);
                self.ends_with_user = true;
            }
            Role::Assistant => {
                self.spoken = Some(index);
                self.ends_with_user = false;
            }
            Role::Tool => {
                if self.results.len() == MAX_RESULTS {
                    self.results.pop_front();
                }
                self.results.push_back(placed);
                self.ends_with_user = false;
            }
            Role::Other => {}
        }
    }
}

impl Row<'_> {
    /// Nobody escapes a letter of these words.
    fn role(&self) -> Role {
        match self.role.map(RawValue::get) {
            Some(r#""user""#) => Role::User,
            Some(r#""assistant""#) => Role::Assistant,
            Some(r#""tool""#) => Role::Tool,
            _ => Role::Other,
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Id,
    Role,
    Content,
    ToolCallId,
    Error,
    #[serde(other)]
    Other,
}

/// The rest of a [`Visitor`] that takes any JSON: what is not looked for is nothing.
macro_rules! otherwise_nothing {
    () => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JSON")
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
}

impl<'de: 'a, 'a> Deserialize<'de> for Row<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Row<'de>;

            otherwise_nothing!();

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Row::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut row = Row { is_object: true, ..Row::default() };
                while let Some(key) = map.next_key::<Key>()? {
                    match key {
                        Key::Id => row.id = map.next_value()?,
                        Key::Role => row.role = map.next_value()?,
                        Key::Content => row.content = map.next_value()?,
                        Key::ToolCallId => row.tool_call_id = map.next_value()?,
                        Key::Error => row.error = map.next_value()?,
                        Key::Other => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(row)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Rows<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Rows<'de>;

            otherwise_nothing!();

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
                let mut rows = Rows::none();
                while let Some(row) = items.next_element()? {
                    rows.add(row);
                }
                Ok(rows)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Rows::default())
            }
        }
        deserializer.deserialize_any(Any)
    }
}
