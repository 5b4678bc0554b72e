use super::*;

#[test]
fn an_amount_is_read_in_its_currency() {
    let check = |minor, currency: &str, expected| assert_eq!(text(minor, currency), expected);
    check(1_234_560, "EUR", "EUR 12,345.60");
    check(5, "EUR", "EUR 0.05");
    check(-99_900, "USD", "USD -999.00");
    check(1_234_560, "JPY", "JPY 1,234,560");
    check(1_234_560, "KWD", "KWD 1,234.560");
    check(i64::MIN, "EUR", "EUR -92,233,720,368,547,758.08");
}
