//! `[store]`: the database.

use storage::Durability;

use super::{problem::nearest, reader::Reader};

#[derive(Clone)]
pub struct Store {
    /// `sqlite:` with an absolute path, or `postgres://…`, which may hold a password: never printed.
    pub url: String,
    pub durability: Durability,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("url", &self.shown()).field("durability", &self.durability).finish()
    }
}

const SQLITE: &str = "sqlite:";

impl Store {
    pub(super) fn read(from: &mut Reader<'_>) -> Self {
        let mut url = format!("{SQLITE}{}", from.environment.directory.join("frontdesk.db").display());
        if let Some(given) = from.text("url") {
            let (scheme, rest) = given.value.split_once(':').unwrap_or_default();
            match scheme {
                "sqlite" => {
                    let path = rest.strip_prefix("//").unwrap_or(rest);
                    if path.is_empty() || path.starts_with(':') {
                        let message = "store.url must name a file, such as sqlite:frontdesk.db; a store in memory would lose \
                                       accepted messages";
                        from.problems.error(&given.at, "invalid-value", message);
                    } else if path.contains('?') {
                        let message = "store.url takes no options after \"?\" with sqlite; name only the file";
                        from.problems.error(&given.at, "invalid-value", message);
                    } else {
                        url = format!("{SQLITE}{}", from.resolve(path, &given.at).display());
                    }
                }
                "postgres" | "postgresql" if url::Url::parse(&given.value).is_ok_and(|url| url.has_host()) => url = given.value,
                _ => {
                    let near =
                        nearest(scheme, ["sqlite", "postgres"]).filter(|near| *near != scheme).map(|near| format!("{near}:"));
                    let message = "store.url must be sqlite:PATH or postgres://USER@HOST/DATABASE".to_owned();
                    from.problems.error_near(&given.at, "invalid-value", message, near);
                }
            }
        }
        let words = [("full", Durability::Full), ("normal", Durability::Normal)];
        let durability = from.one_of("durability", &words).map_or(Durability::Full, |word| word.value);
        Self { url, durability }
    }

    /// The URL without what may be secret in it.
    pub fn shown(&self) -> String {
        if self.url.starts_with(SQLITE) {
            return self.url.clone();
        }
        match url::Url::parse(&self.url) {
            Ok(url) => {
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
            }
            Err(_) => "postgres://…".to_owned(),
        }
    }
}
