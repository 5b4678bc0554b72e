//! The turn in seven steps.

use std::sync::Arc;

use storage::Claimed;

use crate::{Parts, control::RunControl, log::RunWriter};

pub(crate) async fn run(_parts: &Parts, _claimed: Claimed, _writer: RunWriter, _control: Arc<RunControl>) {}
