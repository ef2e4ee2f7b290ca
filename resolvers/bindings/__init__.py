"""What a field reads or writes, and who may use it: declared once, next to the field."""
