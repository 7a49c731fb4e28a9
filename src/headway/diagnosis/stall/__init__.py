"""Whether a running attempt stands still: learnt from its own rhythm, said only where the machines agree."""
