//! The organization's cars.

use domain::Principal;
use schemars::JsonSchema;
use serde::Serialize;
use storage::{Row, StorageError, Tx};

use crate::{
    money::Money,
    page::{Page, Placed},
};

/// A car within its organization.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct CarId(pub(crate) String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fuel {
    Petrol,
    Diesel,
    Hybrid,
    Electric,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Car {
    pub(crate) id: CarId,
    pub(crate) make: String,
    pub(crate) model: String,
    pub(crate) year: i64,
    pub(crate) plate: String,
    pub(crate) odometer_km: i64,
    pub(crate) fuel: Fuel,
    /// `YYYY-MM-DD`
    pub(crate) bought_on: String,
    pub(crate) price: Money,
}

impl Fuel {
    const ALL: [Self; 4] = [Self::Petrol, Self::Diesel, Self::Hybrid, Self::Electric];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Petrol => "petrol",
            Self::Diesel => "diesel",
            Self::Hybrid => "hybrid",
            Self::Electric => "electric",
        }
    }

    fn parse(text: &str) -> Result<Self, StorageError> {
        let found = Self::ALL.into_iter().find(|fuel| fuel.as_str() == text);
        found.ok_or_else(|| StorageError::Corrupt(format!("unknown fuel \"{text}\"")))
    }
}

impl Placed for Car {
    fn place(&self) -> (&str, &str) {
        ("", &self.id.0)
    }
}

/// In the order of their ids.
pub(crate) async fn list(tx: &mut Tx, principal: &Principal, page: &Page) -> Result<Vec<Car>, StorageError> {
    let sql = "SELECT id, make, model, year, plate, odometer_km, fuel, bought_on, price_minor, currency FROM garage_cars
        WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3";
    let (_, after) = &page.after;
    let rows = tx.rows(sql, &[principal.org.as_str().into(), after.into(), page.asked().into()]).await?;
    rows.iter().map(read).collect()
}

pub(crate) async fn find(tx: &mut Tx, principal: &Principal, id: &CarId) -> Result<Option<Car>, StorageError> {
    let sql = "SELECT id, make, model, year, plate, odometer_km, fuel, bought_on, price_minor, currency FROM garage_cars
        WHERE org_id = $1 AND id = $2";
    let row = tx.row(sql, &[principal.org.as_str().into(), (&id.0).into()]).await?;
    row.as_ref().map(read).transpose()
}

/// False if there is one of that id already.
pub(crate) async fn insert(tx: &mut Tx, principal: &Principal, car: &Car) -> Result<bool, StorageError> {
    let sql = "INSERT INTO garage_cars
            (org_id, id, make, model, year, plate, odometer_km, fuel, bought_on, price_minor, currency)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (org_id, id) DO NOTHING";
    let params = [
        principal.org.as_str().into(),
        (&car.id.0).into(),
        (&car.make).into(),
        (&car.model).into(),
        car.year.into(),
        (&car.plate).into(),
        car.odometer_km.into(),
        car.fuel.as_str().into(),
        (&car.bought_on).into(),
        car.price.minor.into(),
        (&car.price.currency).into(),
    ];
    Ok(tx.execute(sql, &params).await? > 0)
}

fn read(row: &Row) -> Result<Car, StorageError> {
    Ok(Car {
        id: CarId(row.get(0)?),
        make: row.get(1)?,
        model: row.get(2)?,
        year: row.get(3)?,
        plate: row.get(4)?,
        odometer_km: row.get(5)?,
        fuel: Fuel::parse(&row.get::<String>(6)?)?,
        bought_on: row.get(7)?,
        price: Money::new(row.get(8)?, row.get(9)?),
    })
}
