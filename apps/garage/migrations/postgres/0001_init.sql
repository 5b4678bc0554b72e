-- Ids and days collate as bytes, so that both engines order them alike.
-- Every key begins with the organization, and with the user where a row is a person's own.
-- Dates are days, as YYYY-MM-DD. Times are milliseconds since the epoch. Amounts are minor units of their currency.

CREATE TABLE garage_organizations (
    org_id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    country TEXT NOT NULL,
    currency TEXT NOT NULL
);

CREATE TABLE garage_cars (
    org_id TEXT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    make TEXT NOT NULL,
    model TEXT NOT NULL,
    year BIGINT NOT NULL,
    plate TEXT NOT NULL,
    odometer_km BIGINT NOT NULL CHECK (odometer_km >= 0),
    fuel TEXT NOT NULL CHECK (fuel IN ('petrol', 'diesel', 'hybrid', 'electric')),
    bought_on TEXT NOT NULL,
    price_minor BIGINT NOT NULL,
    currency TEXT NOT NULL,
    PRIMARY KEY (org_id, id)
);

-- `words` is title and notes in lower case, which the engines themselves do differently.
CREATE TABLE garage_todos (
    org_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    title TEXT NOT NULL,
    notes TEXT,
    words TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('open', 'done')),
    due TEXT COLLATE "C",
    car_id TEXT,
    created_at BIGINT NOT NULL,
    completed_at BIGINT,
    PRIMARY KEY (org_id, user_id, id)
);
CREATE INDEX garage_todos_due ON garage_todos (org_id, user_id, COALESCE(due, '9999-12-31'), id);
