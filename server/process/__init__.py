"""The server process: HTTP/1.1, shutdown and the embedded store."""
