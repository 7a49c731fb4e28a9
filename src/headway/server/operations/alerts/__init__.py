"""Alerts: rules as people set them, what they are held against, what fired."""
