//! `garage_cars`: the organization's cars.

use async_trait::async_trait;
use catalog::{Args, CallContext, Output, Read, ToolError, schema_of};
use domain::{Category, Contract, Effect, ToolName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    cars::{self, Car, CarId, Fuel},
    money::{Money, grouped},
    page::Page,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Most cars to list; 20 if absent.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
    /// The nextCursor of the page before.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Garage {
    cars: Vec<Item>,
    /// There are more: call again with it as cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Item {
    id: CarId,
    make: String,
    model: String,
    /// The model's year.
    year: i64,
    plate: String,
    odometer: Distance,
    fuel: Fuel,
    /// YYYY-MM-DD
    bought_on: String,
    price: Money,
    /// Where the app shows it.
    screen: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Distance {
    km: i64,
    /// The same, to show.
    text: String,
}

/// The organization's cars, a page at a time.
pub struct GarageCars(Contract);

impl Default for GarageCars {
    fn default() -> Self {
        Self(Contract {
            name: ToolName::parse("garage_cars").expect("a valid literal"),
            title: "Cars".to_owned(),
            description:
                "Lists the cars in the garage: make, model, year, plate, odometer, fuel, when each was bought and for how much."
                    .to_owned(),
            input: schema_of::<Wanted>(),
            output: schema_of::<Garage>(),
            category: Category::parse("garage").expect("a valid literal"),
            effect: Effect::Read,
        })
    }
}

#[async_trait]
impl Read for GarageCars {
    fn contract(&self) -> &Contract {
        &self.0
    }

    async fn call(&self, ctx: &CallContext, args: Args) -> Result<Output, ToolError> {
        let Wanted { limit, cursor } = args.parse()?;
        let page = Page::read(limit, cursor.as_deref())?;
        let mut tx = ctx.store.read().await?;
        let (found, next_cursor) = page.cut(cars::list(&mut tx, &ctx.principal, &page).await?);
        Output::of(&Garage { cars: found.into_iter().map(Item::from).collect(), next_cursor })
    }
}

impl From<Car> for Item {
    fn from(car: Car) -> Self {
        Self {
            screen: format!("/cars/{}", car.id.0),
            odometer: Distance { km: car.odometer_km, text: format!("{} km", grouped(car.odometer_km.unsigned_abs())) },
            id: car.id,
            make: car.make,
            model: car.model,
            year: car.year,
            plate: car.plate,
            fuel: car.fuel,
            bought_on: car.bought_on,
            price: car.price,
        }
    }
}
