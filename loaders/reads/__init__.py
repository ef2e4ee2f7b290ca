"""Reads of several operations that are no plain record or list."""
