"""The servers that SmartLocker is compared with."""
