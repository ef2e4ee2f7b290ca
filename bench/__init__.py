"""Measurements that claims of speed stand on."""
