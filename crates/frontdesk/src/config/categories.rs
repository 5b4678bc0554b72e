//! `[categories]`: what tools are about, and whose data that is.

use std::collections::BTreeMap;

use domain::{Bundle, Category, ToolName};

use super::{
    Sections,
    problem::{Place, Problems, nearest},
    reader::{Placed, Reader},
    value::Value,
};

/// The declared ones; without any, every category may be.
#[derive(Debug, Clone, Default)]
pub struct Categories {
    pub data: BTreeMap<Category, Bundle>,
    /// Where they are declared.
    at: Option<Place>,
}

impl Categories {
    pub(super) fn read(sections: &mut Sections<'_>) -> Self {
        let mut data = BTreeMap::new();
        let at = sections.table.0.get("categories").map(|node| node.key.clone());
        for (name, node) in sections.named("categories") {
            let Value::Table(table) = node.value else {
                let message =
                    format!("categories.{name} must be a table with data = \"own\" or \"app\", not {}", node.value.kind());
                sections.problems.error(&node.at, "wrong-type", message);
                continue;
            };
            let category = Category::parse(&name);
            let mut from = Reader::new("categories.NAME", table, sections.environment, sections.problems);
            let bundle = from.one_of("data", &[("own", Bundle::OwnData), ("app", Bundle::App)]);
            let missing = bundle.is_none() && !from.was_wrong();
            from.finish();
            if missing {
                let message = format!("categories.{name}.data says whose data the category is about: \"own\" or \"app\"");
                sections.problems.error(&node.key, "missing-key", message);
            }
            match category {
                Ok(category) => drop(data.insert(category, bundle.map_or(Bundle::OwnData, |bundle| bundle.value))),
                Err(error) => sections.problems.error(&node.key, "invalid-value", error.to_string()),
            }
        }
        Self { data, at }
    }

    fn declares(&self, category: &Category) -> bool {
        self.data.is_empty() || self.data.contains_key(category)
    }

    /// Says that `what` is of a category that is not declared, if it is.
    pub(super) fn check(&self, category: &Placed<Category>, what: &str, problems: &mut Problems) {
        if !self.declares(&category.value) {
            let (message, near) = self.complaint(&category.value, what);
            problems.error_near(&category.at, "unknown-category", message, near);
        }
    }

    /// Says that a tool of the program's is of a category that is not declared, if it is: it has no place of its own.
    pub(super) fn check_tool(&self, category: &Category, tool: &ToolName, problems: &mut Problems) {
        let at = self.at.clone().unwrap_or(Place::Configuration);
        self.check(&Placed { value: category.clone(), at }, &format!("the tool \"{tool}\""), problems);
    }

    fn complaint(&self, category: &Category, what: &str) -> (String, Option<String>) {
        let near = nearest(category.as_str(), self.data.keys().map(Category::as_str)).map(str::to_owned);
        (format!("{what} is of category \"{category}\", which categories.* does not declare"), near)
    }
}
