//! Fixtures and helpers shared by the integration tests.
