//! Todos: each is one person's, in one organization.

use domain::Principal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use storage::{Row, StorageError, Tx};

use crate::{
    cars::CarId,
    page::{Page, Placed},
};

/// Where a todo without a day stands: after all others.
const NEVER: &str = "9999-12-31";

/// A todo within its person's and organization's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct TodoId(pub(crate) String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Open,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Todo {
    pub(crate) id: TodoId,
    pub(crate) title: String,
    pub(crate) notes: Option<String>,
    pub(crate) status: Status,
    /// `YYYY-MM-DD`
    pub(crate) due: Option<String>,
    pub(crate) car: Option<CarId>,
    /// Milliseconds since the epoch, as the next.
    pub(crate) created_at: i64,
    pub(crate) completed_at: Option<i64>,
}

/// Which todos are asked for; what is `None` does not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) status: Option<Status>,
    /// `YYYY-MM-DD`, itself left out.
    pub(crate) due_before: Option<String>,
    /// Held by title or notes, in capitals or not.
    pub(crate) text: Option<String>,
}

impl Status {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
        }
    }

    fn parse(text: &str) -> Result<Self, StorageError> {
        let found = [Self::Open, Self::Done].into_iter().find(|status| status.as_str() == text);
        found.ok_or_else(|| StorageError::Corrupt(format!("unknown status \"{text}\"")))
    }
}

impl Placed for Todo {
    fn place(&self) -> (&str, &str) {
        (self.due.as_deref().unwrap_or(NEVER), &self.id.0)
    }
}

/// The next due first.
pub(crate) async fn list(tx: &mut Tx, principal: &Principal, filter: &Filter, page: &Page) -> Result<Vec<Todo>, StorageError> {
    let sql = r"SELECT id, title, notes, status, due, car_id, created_at, completed_at FROM garage_todos
        WHERE org_id = $1 AND user_id = $2
          AND ($3 IS NULL OR status = $3)
          AND ($4 IS NULL OR due < $4)
          AND ($5 IS NULL OR words LIKE $5 ESCAPE '\')
          AND (COALESCE(due, '9999-12-31'), id) > ($6, $7)
        ORDER BY COALESCE(due, '9999-12-31'), id LIMIT $8";
    let (due, id) = &page.after;
    let params = [
        principal.org.as_str().into(),
        principal.user.as_str().into(),
        filter.status.map(Status::as_str).into(),
        filter.due_before.as_ref().into(),
        filter.text.as_deref().map(pattern).into(),
        due.into(),
        id.into(),
        page.asked().into(),
    ];
    tx.rows(sql, &params).await?.iter().map(read).collect()
}

pub(crate) async fn find(tx: &mut Tx, principal: &Principal, id: &TodoId) -> Result<Option<Todo>, StorageError> {
    let sql = "SELECT id, title, notes, status, due, car_id, created_at, completed_at FROM garage_todos
        WHERE org_id = $1 AND user_id = $2 AND id = $3";
    let params = [principal.org.as_str().into(), principal.user.as_str().into(), (&id.0).into()];
    tx.row(sql, &params).await?.as_ref().map(read).transpose()
}

/// False if there is one of that id already.
pub(crate) async fn insert(tx: &mut Tx, principal: &Principal, todo: &Todo) -> Result<bool, StorageError> {
    let sql = "INSERT INTO garage_todos
            (org_id, user_id, id, title, notes, words, status, due, car_id, created_at, completed_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (org_id, user_id, id) DO NOTHING";
    let words = [Some(&todo.title), todo.notes.as_ref()].into_iter().flatten();
    let words: Vec<String> = words.map(|text| text.to_lowercase()).collect();
    let params = [
        principal.org.as_str().into(),
        principal.user.as_str().into(),
        (&todo.id.0).into(),
        (&todo.title).into(),
        todo.notes.as_ref().into(),
        words.join("\n").into(),
        todo.status.as_str().into(),
        todo.due.as_ref().into(),
        todo.car.as_ref().map(|car| &car.0).into(),
        todo.created_at.into(),
        todo.completed_at.into(),
    ];
    Ok(tx.execute(sql, &params).await? > 0)
}

fn read(row: &Row) -> Result<Todo, StorageError> {
    Ok(Todo {
        id: TodoId(row.get(0)?),
        title: row.get(1)?,
        notes: row.get(2)?,
        status: Status::parse(&row.get::<String>(3)?)?,
        due: row.get(4)?,
        car: row.get::<Option<String>>(5)?.map(CarId),
        created_at: row.get(6)?,
        completed_at: row.get(7)?,
    })
}

/// What LIKE finds wherever `text` stands.
fn pattern(text: &str) -> String {
    let mut out = String::from("%");
    for letter in text.to_lowercase().chars() {
        if matches!(letter, '%' | '_' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('%');
    out
}
