"""What the ranks print: read within limits, kept in a spool until the server has it on its disk."""
