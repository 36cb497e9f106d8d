"""Batches: lists of vehicles that the portal looks up in the background."""
