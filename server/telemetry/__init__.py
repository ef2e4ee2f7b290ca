"""Telemetry of requests: metrics, spans and logs."""
