"""Everything that touches the table: keys, codecs, contracts, reads, writes and the tools of operators."""
