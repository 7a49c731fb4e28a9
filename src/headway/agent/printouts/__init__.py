"""The shapes in which tools print: boxes, columns, outlines, metrics, csv. They know shapes and units, no maker."""
