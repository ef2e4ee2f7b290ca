"""Following the log: leases, positions, and the loop that passes activities on to followers."""
