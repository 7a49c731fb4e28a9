"""Jobs from their submission to their end: what is written when one is asked for, moves, is stopped or taken."""
