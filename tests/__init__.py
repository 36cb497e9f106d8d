"""The tests: the tree of the source, with the fakes at the wire and at the clock."""
