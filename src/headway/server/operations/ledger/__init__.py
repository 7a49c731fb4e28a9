"""The ledger read for people: a month's use, and its differences from a site's own accounting."""
