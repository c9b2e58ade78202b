"""One module for each group of `marginalia` subcommands."""
