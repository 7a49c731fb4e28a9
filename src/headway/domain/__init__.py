"""The vocabulary: frozen values, lifecycles, facts and errors, and nothing that acts.

One word has one meaning here, in the API, on the screens and in the docs. This room decides what may be said; it must
never read a clock, a disk or a network, nor import another room.
"""
