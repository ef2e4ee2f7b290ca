"""Everything that touches the table: keys, codecs, contracts, reads, writes and batches."""
