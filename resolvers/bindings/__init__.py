"""Bindings of fields: what a field reads or writes and who may use it, declared next to the field."""
