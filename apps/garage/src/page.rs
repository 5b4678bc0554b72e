//! Pages of a list: how many rows, and where the next ones begin.

use catalog::ToolError;

/// Rows of a page unless the call says how many.
const ROWS: u32 = 20;

/// Most rows of a page; the schemas of the lists say the same.
pub(crate) const MAX_ROWS: u32 = 50;

/// What stands before the first row of any list.
const START: (&str, &str) = ("", "");

/// How much of a list is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) rows: u32,
    /// Order and id of the row before the page.
    pub(crate) after: (String, String),
}

/// Where a row stands in its list.
pub(crate) trait Placed {
    /// What the list is ordered by, and the row's id.
    fn place(&self) -> (&str, &str);
}

impl Page {
    /// `cursor` as [`Page::cut`] made it: `order/id`.
    pub(crate) fn read(limit: Option<u32>, cursor: Option<&str>) -> Result<Self, ToolError> {
        let after = match cursor {
            None => Some(START),
            Some(cursor) => cursor.split_once('/').filter(|(_, id)| !id.is_empty()),
        };
        let (order, id) = after.ok_or_else(|| {
            ToolError::new("the cursor is not one this list gave; take its nextCursor, or none for the beginning")
        })?;
        let rows = limit.unwrap_or(ROWS).clamp(1, MAX_ROWS);
        Ok(Self { rows, after: (order.to_owned(), id.to_owned()) })
    }

    /// Rows to ask the database for: one more, which tells whether there is a next page.
    pub(crate) fn asked(&self) -> u32 {
        self.rows + 1
    }

    /// The page itself, and the cursor of the next one.
    pub(crate) fn cut<T: Placed>(&self, mut rows: Vec<T>) -> (Vec<T>, Option<String>) {
        if rows.len() <= self.rows as usize {
            return (rows, None);
        }
        rows.truncate(self.rows as usize);
        let cursor = rows.last().map(|row| {
            let (order, id) = row.place();
            format!("{order}/{id}")
        });
        (rows, cursor)
    }
}

#[cfg(test)]
mod tests;
