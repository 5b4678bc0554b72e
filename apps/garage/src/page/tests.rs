#![allow(clippy::unwrap_used)]

use super::*;

impl Placed for (&str, &str) {
    fn place(&self) -> (&str, &str) {
        *self
    }
}

#[test]
fn a_cursor_is_where_the_page_ended() {
    let page = Page::read(Some(2), None).unwrap();
    let (rows, cursor) = page.cut(vec![("a", "1"), ("a", "2/3"), ("b", "3")]);
    assert_eq!((rows.len(), cursor.as_deref()), (2, Some("a/2/3")));
    let next = Page::read(Some(2), cursor.as_deref()).unwrap();
    assert_eq!(next.after, ("a".to_owned(), "2/3".to_owned()));
    assert_eq!(next.cut(vec![("b", "3")]), (vec![("b", "3")], None));
}

#[test]
fn what_no_list_gave_is_refused() {
    for cursor in ["", "2026-12-01", "2026-12-01/"] {
        assert!(Page::read(None, Some(cursor)).is_err(), "{cursor}");
    }
}
