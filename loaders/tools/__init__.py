"""Tools behind the commands of operators: create, migrate, check, copy and fill the table."""
