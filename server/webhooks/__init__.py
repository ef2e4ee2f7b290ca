"""Deliveries of webhooks over HTTP."""
