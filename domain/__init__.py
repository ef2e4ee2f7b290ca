"""The rules of lockers, owners, reservations and events: pure, without input or output."""
