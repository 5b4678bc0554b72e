//! What the assistant may call, one file each.

mod garage_cars;
mod organization_info;
mod todo_detail;
mod todo_list;

pub use garage_cars::GarageCars;
pub use organization_info::OrganizationInfo;
pub use todo_detail::TodoDetail;
pub use todo_list::TodoList;

/// Adds the garage's tools to the built-in ones.
pub fn add(catalog: catalog::Builder) -> catalog::Builder {
    catalog.read(GarageCars::default()).read(OrganizationInfo::default()).read(TodoDetail::default()).read(TodoList::default())
}
