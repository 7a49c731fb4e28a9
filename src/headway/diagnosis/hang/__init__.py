"""Which rank a stalled attempt waits for and why, from what its agents saw of it while it hung."""
