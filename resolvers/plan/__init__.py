"""One plan per document: compiled, priced, run and explained."""
