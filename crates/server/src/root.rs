//! `GET /`: what this is, for whoever opens the address.

pub(crate) async fn handler() -> &'static str {
    "Frontdesk listens here.\n\n\
     POST /v1/agui        an AG-UI RunAgentInput in, its events out\n\
     GET  /v1/agui        ?threadId= reopens a thread, ?runId=&offset=-1 joins a run\n\
     GET  /v1/runs/{id}   where a run is; POST …/cancel stops it\n\
     GET  /readyz         whether a message would be answered\n\n\
     Every call but the last needs \"Authorization: Bearer TOKEN\": see `frontdesk token`.\n"
}
