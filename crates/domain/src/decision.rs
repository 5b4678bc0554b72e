//! What a run stores before the model is asked; a continuation reuses it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Effort, RoleName, ToolName};

/// Whether a turn needs the person's own data or is about the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bundle {
    OwnData,
    App,
}

/// Role, tier, scope and exact tools of a run. The JSON form is stored (version 1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub role: RoleName,
    pub tier: Effort,
    pub in_scope: bool,
    pub bundle: Bundle,
    /// The judge failed and a cheaper call, or nobody, decided.
    pub degraded: bool,
    pub facts: Map<String, Value>,
    /// Exactly the tools the run may call, in the order offered; at most 20.
    pub tools: Vec<ToolName>,
    pub roster_version: String,
}
