"""Nodes: what their daemons report, their case files, cordons, retests and incidents."""
