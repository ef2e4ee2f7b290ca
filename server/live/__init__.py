"""Subscriptions: what runs for them, and their transports."""
