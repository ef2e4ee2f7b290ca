"""What the commands of operators run: create, migrate, check, copy and fill the table."""
