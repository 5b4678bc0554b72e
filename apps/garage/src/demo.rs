//! What a first visitor finds: one organization with cars and todos, one with nothing.
//!
//! Everything is invented. Days count from the day of the database, so that what is overdue stays overdue.

use domain::{ChannelName, OrgId, Principal, UserId};
use frontdesk::LOCAL;
use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use storage::{StorageError, Store, Tx};

use crate::{
    cars::{self, Car, CarId, Fuel},
    money::Money,
    organizations::{self, Profile},
    todos::{self, Status, Todo, TodoId},
};

/// The organization without anything, of the same person.
const EMPTY: &str = "empty";
const DAY_MS: i64 = 86_400_000;

/// Id, make, model, year, plate, kilometres, fuel, bought how many days ago, for how many cents.
type NewCar = (&'static str, &'static str, &'static str, i64, &'static str, i64, Fuel, i64, i64);

const CARS: [NewCar; 3] = [
    ("car-1", "Volvo", "V60", 2019, "B FD 2019", 84_310, Fuel::Diesel, 1_290, 2_149_000),
    ("car-2", "Renault", "Zoe", 2021, "B FD 2021", 31_875, Fuel::Electric, 610, 1_390_000),
    ("car-3", "Fiat", "500", 1971, "B FD 71H", 98_002, Fuel::Petrol, 3_420, 895_000),
];

/// Id, title, notes, due in how many days, the car it is about, done how many days ago.
type NewTodo = (&'static str, &'static str, Option<&'static str>, Option<i64>, Option<&'static str>, Option<i64>);

const TODOS: [NewTodo; 8] = [
    ("todo-1", "Renew the insurance of the Volvo", Some("Two offers are in the glove box."), Some(-3), Some("car-1"), None),
    ("todo-2", "Book the inspection", Some("The workshop opens at eight."), Some(2), Some("car-1"), None),
    ("todo-3", "Put on winter tyres", Some("They are in the cellar, the bolts too."), Some(9), Some("car-1"), None),
    ("todo-4", "Check the charging cable", None, Some(16), Some("car-2"), None),
    ("todo-5", "Pay the road tax", Some("All three cars."), Some(30), None, None),
    ("todo-6", "Find a door handle for the Fiat", Some("Chrome, left side."), None, Some("car-3"), None),
    ("todo-7", "Change the oil", Some("Done together with the filter."), Some(-20), Some("car-3"), Some(22)),
    ("todo-8", "Wash the Zoe", None, Some(-6), Some("car-2"), Some(6)),
];

/// Fills organization `local` if it has nothing of the garage, and makes its person a member of `empty`. Twice, or in
/// two processes at once, is as good as once.
pub async fn fill(store: Store) -> Result<(), StorageError> {
    let local = principal(LOCAL);
    let mut tx = store.begin().await?;
    if is_empty(&mut tx, &local).await? && organizations::insert(&mut tx, &local, &profile()).await? {
        let now = tx.now().await?;
        let today = day(now)?;
        for car in CARS {
            cars::insert(&mut tx, &local, &to_car(car, today)?).await?;
        }
        for todo in TODOS {
            todos::insert(&mut tx, &local, &to_todo(todo, today, now)?).await?;
        }
        tx.commit().await?;
        store.add_user(&principal(EMPTY).org, &local.user, None).await?;
    }
    Ok(())
}

async fn is_empty(tx: &mut Tx, principal: &Principal) -> Result<bool, StorageError> {
    let sql = "SELECT 1 FROM garage_organizations WHERE org_id = $1
        UNION ALL SELECT 1 FROM garage_cars WHERE org_id = $1
        UNION ALL SELECT 1 FROM garage_todos WHERE org_id = $1 LIMIT 1";
    Ok(tx.row(sql, &[principal.org.as_str().into()]).await?.is_none())
}

/// The demo's person in one of the two organizations.
fn principal(org: &str) -> Principal {
    let org = OrgId::parse(org).expect("five letters are an id");
    let user = UserId::parse(LOCAL).expect("five letters are an id");
    Principal::new(org, user, ChannelName::parse("web").expect("a valid literal"))
}

fn profile() -> Profile {
    Profile { name: "Corner Garage".to_owned(), country: "DE".to_owned(), currency: "EUR".to_owned() }
}

fn to_car(car: NewCar, today: Date) -> Result<Car, StorageError> {
    let (id, make, model, year, plate, odometer_km, fuel, bought, cents) = car;
    Ok(Car {
        id: CarId(id.to_owned()),
        make: make.to_owned(),
        model: model.to_owned(),
        year,
        plate: plate.to_owned(),
        odometer_km,
        fuel,
        bought_on: after(today, -bought)?,
        price: Money::new(cents, "EUR".to_owned()),
    })
}

fn to_todo(todo: NewTodo, today: Date, now: i64) -> Result<Todo, StorageError> {
    let (id, title, notes, due, car, done) = todo;
    Ok(Todo {
        id: TodoId(id.to_owned()),
        title: title.to_owned(),
        notes: notes.map(str::to_owned),
        status: if done.is_some() { Status::Done } else { Status::Open },
        due: due.map(|days| after(today, days)).transpose()?,
        car: car.map(|id| CarId(id.to_owned())),
        created_at: now - 40 * DAY_MS,
        completed_at: done.map(|days| now - days * DAY_MS),
    })
}

fn day(ms: i64) -> Result<Date, StorageError> {
    let time = Timestamp::from_millisecond(ms).map_err(|error| StorageError::Corrupt(error.to_string()))?;
    Ok(time.to_zoned(TimeZone::UTC).date())
}

fn after(today: Date, days: i64) -> Result<String, StorageError> {
    let day = today.checked_add(days.days()).map_err(|error| StorageError::Corrupt(error.to_string()))?;
    Ok(day.to_string())
}
