"""The database and its tables, backups, and the file of the secret key."""
