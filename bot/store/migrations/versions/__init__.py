"""One module a step of the ledger's shape, in order."""
