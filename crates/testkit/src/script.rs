//! What the scripted model shall do, read from `[[…]]` in what the person said last.
//!
//! | directive | effect |
//! |---|---|
//! | `say TEXT` | the words of TEXT, one delta each |
//! | `words N [delay MS] [wide BYTES]` | `w1 w2 … wN`, one delta each, MS milliseconds before each, with dots up to BYTES (at most 60,000) |
//! | `think TEXT` | reasoning before the text |
//! | `tool NAME ARGS`, `tool NAME raw TEXT` | a tool call; several in one step may stand side by side |
//! | `loop NAME` | calls NAME with `{}` in every step that may use tools |
//! | `then` | what follows answers the tool results of the directives before |
//! | `error STATUS [retry-after S] [times N]` | refuses the request, the first N times |
//! | `error mid` | an error object in the stream, at the end of what was said |
//! | `cut [clean] [after N]` | closes the socket after N pieces; `clean`: a whole body, without the protocol's end |
//! | `hang [after N]` | goes silent until the client leaves |
//! | `gate NAME [after N]` | waits until the file NAME is in the control folder |
//! | `bytes` | the body one byte at a time |
//! | `empty`, `length` | finishes with no text; finishes for length |

use std::time::Duration;

/// Most bytes of one wide word.
const WIDEST: usize = 60_000;

/// One thing said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Think(String),
    Call { name: String, arguments: String },
}

/// One thing done between two pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    Gate(String),
    Hang,
    Cut { clean: bool },
    ErrorMid,
}

/// An HTTP error instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    pub retry_after: Option<u64>,
    /// `None`: always.
    pub times: Option<u64>,
}

/// One model call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Phase {
    pub pieces: Vec<Piece>,
    /// What happens before the piece of that index (or after the last one).
    pub acts: Vec<(usize, Act)>,
    /// Before each text piece.
    pub delay: Duration,
    pub bytes: bool,
    pub refusal: Option<Refusal>,
    pub length: bool,
    /// Goes silent before the response's head.
    pub hang_first: bool,
    empty: bool,
}

/// All model calls of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The call of the first step, then of the one after the first results, …
    pub phases: Vec<Phase>,
    /// The tool called for ever.
    pub repeat: Option<String>,
}

impl Script {
    /// `None`: the text holds no directive.
    pub fn parse(text: &str) -> Option<Self> {
        let mut script = Self::default();
        let mut phase = Phase::default();
        let mut any = false;
        let mut rest = text;
        while let Some((_, tail)) = rest.split_once("[[") {
            let (directive, tail) = tail.split_once("]]")?;
            rest = tail;
            any = true;
            match directive.split_once(' ').unwrap_or((directive, "")) {
                ("then", _) => script.phases.push(std::mem::take(&mut phase).closed()),
                ("loop", name) => script.repeat = Some(name.trim().to_owned()),
                (word, arguments) => phase.add(word, arguments),
            }
        }
        script.phases.push(phase.closed());
        any.then_some(script)
    }

    /// What to do in the model call after `rounds` rounds of tool results (`results`: those of the last round);
    /// `may_call`: tools are offered and allowed.
    pub fn phase(&self, rounds: usize, results: &[String], may_call: bool) -> Phase {
        if let Some(name) = self.repeat.as_ref().filter(|_| may_call) {
            let call = Piece::Call { name: name.clone(), arguments: "{}".to_owned() };
            return Phase { pieces: vec![call], ..Phase::default() };
        }
        match self.phases.get(rounds) {
            Some(phase) if self.repeat.is_none() => phase.clone(),
            _ => Phase { pieces: words(&format!("done: {}", results.join(" | "))), ..Phase::default() },
        }
    }
}

impl Phase {
    /// A plain answer.
    pub fn saying(text: &str) -> Self {
        Self { pieces: words(text), ..Self::default() }
    }

    fn add(&mut self, word: &str, arguments: &str) {
        match word {
            "say" => self.pieces.extend(words(arguments)),
            "words" => {
                let count = arguments.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0usize);
                let wide = number(arguments, "wide").and_then(|n| usize::try_from(n).ok()).unwrap_or(0).min(WIDEST);
                self.pieces.extend(numbered(count).into_iter().map(|piece| widened(piece, wide)));
                self.delay = Duration::from_millis(number(arguments, "delay").unwrap_or(0));
            }
            "think" => self.pieces.extend(words(arguments).into_iter().map(|piece| match piece {
                Piece::Text(text) => Piece::Think(text),
                other => other,
            })),
            "tool" => {
                let (name, arguments) = arguments.split_once(' ').unwrap_or((arguments, "{}"));
                let arguments = arguments.strip_prefix("raw ").unwrap_or(arguments);
                self.pieces.push(Piece::Call { name: name.to_owned(), arguments: arguments.to_owned() });
            }
            "error" if arguments == "mid" => self.acts.push((usize::MAX, Act::ErrorMid)),
            "error" => {
                self.refusal = Some(Refusal {
                    status: arguments.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(500),
                    retry_after: number(arguments, "retry-after"),
                    times: number(arguments, "times"),
                });
            }
            "cut" => {
                let clean = arguments.split_whitespace().any(|word| word == "clean");
                self.acts.push((after(arguments).unwrap_or(usize::MAX), Act::Cut { clean }));
            }
            "hang" => match after(arguments) {
                Some(at) => self.acts.push((at, Act::Hang)),
                None => self.hang_first = true,
            },
            "gate" => {
                let name = arguments.split_whitespace().next().unwrap_or("gate").to_owned();
                self.acts.push((after(arguments).unwrap_or(0), Act::Gate(name)));
            }
            "bytes" => self.bytes = true,
            "length" => self.length = true,
            "empty" => self.empty = true,
            _ => self.pieces.push(Piece::Text(format!("unknown directive {word}"))),
        }
    }

    /// Gives a phase that says nothing something to say, and brings what it does within what it says.
    fn closed(mut self) -> Self {
        if self.pieces.is_empty() && !self.empty {
            self.pieces = numbered(10);
        }
        let last = self.pieces.len();
        for (at, _) in &mut self.acts {
            *at = (*at).min(last);
        }
        self
    }
}

/// Text cut into deltas: every word carries the space before it.
pub fn words(text: &str) -> Vec<Piece> {
    let mut out: Vec<String> = Vec::new();
    for char in text.chars() {
        match out.last_mut() {
            Some(word) if char != ' ' => word.push(char),
            _ => out.push(char.to_string()),
        }
    }
    out.into_iter().map(Piece::Text).collect()
}

/// `w1`, ` w2`, … ` wN`.
fn numbered(count: usize) -> Vec<Piece> {
    (1..=count).map(|n| Piece::Text(if n == 1 { "w1".to_owned() } else { format!(" w{n}") })).collect()
}

fn widened(piece: Piece, wide: usize) -> Piece {
    match piece {
        Piece::Text(text) => Piece::Text(format!("{text:.<wide$}")),
        other => other,
    }
}

fn number(arguments: &str, name: &str) -> Option<u64> {
    let mut parts = arguments.split_whitespace().skip_while(|word| *word != name);
    parts.nth(1)?.parse().ok()
}

fn after(arguments: &str) -> Option<usize> {
    number(arguments, "after").and_then(|n| usize::try_from(n).ok())
}

/// What `words N` says: the whole text.
pub fn numbered_text(count: usize) -> String {
    (1..=count).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "script/tests.rs"]
mod tests;
