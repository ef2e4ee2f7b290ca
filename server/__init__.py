"""The process: settings, the HTTP endpoint, the command line and the composition of it all."""
