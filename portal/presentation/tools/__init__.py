"""View models of the pages for batches, comparisons and negotiations."""
