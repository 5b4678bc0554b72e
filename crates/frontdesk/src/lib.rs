//! frontdesk
