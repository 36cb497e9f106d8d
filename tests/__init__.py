"""The tests, arranged like the source. Fakes replace the upstream and the clock."""
