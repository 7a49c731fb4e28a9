"""From what was seen of an attempt first-hand, and its ranks' words, to what each rank's end comes to."""
