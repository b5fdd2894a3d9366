//! Every backend passes the same suite.

mod sled {
    agentd_store::store_conformance!(crate::support::fresh());
}

mod memory {
    agentd_store::store_conformance!((std::sync::Arc::new(agentd_store::MemoryStore::new()), ()));
}
