//! Ranking of short texts by the words of a question (Okapi BM25). Pure, deterministic, no index: for tens to
//! thousands of texts of a few lines each.

use std::collections::HashMap;

/// How fast a repeated word counts less, and how much a long text does.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Scores of `texts` for `query`, in their order; 0 where no word of the query occurs.
pub fn scores<'a>(query: &str, texts: impl IntoIterator<Item = &'a str>) -> Vec<f64> {
    let texts: Vec<Vec<String>> = texts.into_iter().map(words).collect();
    let mut wanted = words(query);
    wanted.sort();
    wanted.dedup();
    let total: usize = texts.iter().map(Vec::len).sum();
    let average = (total as f64 / texts.len().max(1) as f64).max(1.0);
    let counts: Vec<HashMap<&str, f64>> = texts.iter().map(|text| count(text)).collect();
    let mut scores = vec![0.0; texts.len()];
    for word in &wanted {
        let holding = counts.iter().filter(|counts| counts.contains_key(word.as_str())).count() as f64;
        if holding == 0.0 {
            continue;
        }
        let rarity = (1.0 + (texts.len() as f64 - holding + 0.5) / (holding + 0.5)).ln();
        for ((score, counts), text) in scores.iter_mut().zip(&counts).zip(&texts) {
            if let Some(times) = counts.get(word.as_str()) {
                let length = K1 * (1.0 - B + B * text.len() as f64 / average);
                *score += rarity * times * (K1 + 1.0) / (times + length);
            }
        }
    }
    scores
}

fn count(text: &[String]) -> HashMap<&str, f64> {
    let mut counts = HashMap::new();
    for word in text {
        *counts.entry(word.as_str()).or_insert(0.0) += 1.0;
    }
    counts
}

/// Lower-case words: runs of letters and digits, `snake_case`, `kebab-case` and `camelCase` taken apart, a plural's `s`
/// left off; scripts without spaces as pairs of neighbours.
pub fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut dense: Option<char> = None;
    let mut before = ' ';
    for c in text.chars() {
        if is_dense(c) {
            end(&mut word, &mut out);
            out.push(dense.map_or_else(|| c.to_string(), |last| format!("{last}{c}")));
            dense = Some(c);
        } else {
            dense = None;
            if !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase()) {
                end(&mut word, &mut out);
            }
            if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    end(&mut word, &mut out);
    out
}

fn end(word: &mut String, out: &mut Vec<String>) {
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    if !word.is_empty() {
        out.push(std::mem::take(word));
    }
}

/// Chinese, Japanese and Korean, written without spaces.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests;
