"""Declares routes, and makes the responses that several pages send."""
