"""GitHub's side: requests without I/O, one thin client, reading, publishing, commands."""
