"""The seam to the store: operations as values, one client that runs them, the table's own definition."""
