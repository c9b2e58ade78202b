"""The ledger: everything that was received, done, judged and posted, in SQLite or PostgreSQL."""
