"""The node daemon: what a node and its cards are doing and what its kernel says, whether a job runs there or not."""
