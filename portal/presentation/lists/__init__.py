"""View models of lists of vehicles: batches, comparisons, recent lookups."""
