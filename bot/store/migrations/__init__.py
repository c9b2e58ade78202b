"""The ledger's migrations, run by ``Database.migrate``."""
