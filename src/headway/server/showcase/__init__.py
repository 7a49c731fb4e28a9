"""A throw-away home with two weeks of life in it, to be looked at; no real work is ever in it."""
