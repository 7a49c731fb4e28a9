"""Readings: what nodes, devices and ranks measured over time, and progress metrics, down-sampled for a screen.

Callers see `ReadingStore`, the port; `Readings` is the default behind it. Nothing here knows what a name means.
"""

from headway.store.readings.port import Grid, NodeMeans, Point, Reading, ReadingStore, Series
from headway.store.readings.sqlite import Readings

__all__ = ["Grid", "NodeMeans", "Point", "Reading", "ReadingStore", "Readings", "Series"]
