//! A fresh database, the garage's tools on it, and short words for what tests put in.

use std::{sync::Arc, time::Duration};

use catalog::{CallBounds, CallContext, Catalog};
use domain::{ChannelName, OrgId, Principal, RunId, ThreadId, ToolName, UserId};
use frontdesk::SystemClock;
use serde_json::Value;
use storage::{Durability, Store, StoreOptions};
use tempfile::TempDir;
use testkit::{Postgres, Setup};
use tokio_util::sync::CancellationToken;

/// Where a database is; dropped with it.
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) folder: TempDir,
    _postgres: Option<Postgres>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("garage.db").display());
        Self { url, folder, _postgres: None }
    }

    /// `None`, said aloud, without a server.
    pub(crate) fn postgres() -> Option<Self> {
        let postgres = Postgres::fresh()?;
        Some(Self { url: postgres.url.clone(), folder: tempfile::tempdir().unwrap(), _postgres: Some(postgres) })
    }

    pub(crate) async fn store(&self) -> Store {
        let options = StoreOptions {
            url: self.url.clone(),
            durability: Durability::Normal,
            connections: 0,
            application: Some(garage::MIGRATIONS),
        };
        Store::open(options).await.unwrap()
    }

    /// The binary on this database, in demo mode.
    pub(crate) fn setup(&self) -> Setup {
        let setup =
            Setup { binary: env!("CARGO_BIN_EXE_garage").into(), folder: self.folder.path().to_owned(), environment: Vec::new() };
        setup.with("store.url", &self.url)
    }
}

/// The catalog on a store.
pub(crate) struct Garage {
    pub(crate) store: Store,
    catalog: Catalog,
}

impl Garage {
    /// ada and bob of acme, ada of globex too; nothing in any of their tables.
    pub(crate) async fn new(place: &Place) -> Self {
        let store = place.store().await;
        for (org, user) in [("acme", "ada"), ("acme", "bob"), ("globex", "ada")] {
            store.add_user(&OrgId::parse(org).unwrap(), &UserId::parse(user).unwrap(), None).await.unwrap();
        }
        Self { store, catalog: garage::tools::add(Catalog::builder()).build().unwrap() }
    }

    /// With the demo's rows, too.
    pub(crate) async fn full(place: &Place) -> Self {
        let garage = Self::new(place).await;
        let local = OrgId::parse("local").unwrap();
        garage.store.add_user(&local, &UserId::parse("local").unwrap(), None).await.unwrap();
        garage::demo::fill(garage.store.clone()).await.unwrap();
        garage
    }

    /// What the model reads, and whether it is an error.
    pub(crate) async fn call(&self, who: &str, tool: &str, arguments: &str) -> (Value, bool) {
        let ctx = CallContext {
            principal: person(who),
            store: self.store.clone().into(),
            clock: Arc::new(SystemClock),
            thread: ThreadId::parse("t").unwrap(),
            run: RunId::parse("r").unwrap(),
            cancel: CancellationToken::new(),
        };
        let bounds = CallBounds { timeout: Duration::from_secs(20), result_bytes: 64 * 1024 };
        let tool = self.catalog.own().get(&ToolName::parse(tool).unwrap()).unwrap();
        let result = tool.call(&ctx, arguments, bounds).await;
        (serde_json::from_str(&result.content).unwrap(), result.error)
    }

    pub(crate) async fn ok(&self, who: &str, tool: &str, arguments: &str) -> Value {
        let (value, error) = self.call(who, tool, arguments).await;
        assert!(!error, "{tool} {arguments}: {value}");
        value
    }

    /// The words of a call that does not work.
    pub(crate) async fn refused(&self, who: &str, tool: &str, arguments: &str) -> String {
        let (value, error) = self.call(who, tool, arguments).await;
        assert!(error, "{tool} {arguments}: {value}");
        value["error"].as_str().unwrap().to_owned()
    }

    /// Puts a todo into `who`'s list; `due` as YYYY-MM-DD, or nothing.
    pub(crate) async fn todo(&self, who: &str, id: &str, title: &str, due: &str) {
        let sql = "INSERT INTO garage_todos (org_id, user_id, id, title, words, status, due, created_at)
            VALUES ($1, $2, $3, $4, $5, 'open', $6, 0)";
        let due = Some(due).filter(|due| !due.is_empty());
        let (person, words) = (person(who), title.to_lowercase());
        let params = [person.org.as_str().into(), person.user.as_str().into(), id.into(), title.into(), words.into(), due.into()];
        self.execute(sql, &params).await;
    }

    pub(crate) async fn car(&self, org: &str, id: &str) {
        let sql = "INSERT INTO garage_cars
                (org_id, id, make, model, year, plate, odometer_km, fuel, bought_on, price_minor, currency)
            VALUES ($1, $2, 'Volvo', 'V60', 2019, 'B 1', 84310, 'diesel', '2022-05-01', 2149000, 'EUR')";
        self.execute(sql, &[org.into(), id.into()]).await;
    }

    pub(crate) async fn execute(&self, sql: &str, params: &[storage::Value]) {
        let mut tx = self.store.begin().await.unwrap();
        tx.execute(sql, params).await.unwrap();
        tx.commit().await.unwrap();
    }
}

/// `user@org`.
pub(crate) fn person(who: &str) -> Principal {
    let (user, org) = who.split_once('@').unwrap();
    Principal::new(OrgId::parse(org).unwrap(), UserId::parse(user).unwrap(), ChannelName::parse("web").unwrap())
}

/// The texts under `key` of each item of a list.
pub(crate) fn each<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap()).collect()
}
