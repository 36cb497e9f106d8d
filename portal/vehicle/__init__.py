"""Parses plates, and reads the upstream's records into typed values."""
