"""From a document's text to a valid document within its limits."""
