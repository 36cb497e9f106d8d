"""The production server and its worker processes."""
