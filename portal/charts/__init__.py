"""Compute the geometry of charts, which the HTML templates draw."""
