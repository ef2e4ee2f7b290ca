"""One function for each atomic write, and for each the pure function that builds its request."""
