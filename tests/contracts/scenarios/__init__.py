"""Examples of contracts: calls of the product, of which the last is the one that is looked at.

Each can be run with short names, for requests that can be read, and with the longest, for what they cost at most.
"""
