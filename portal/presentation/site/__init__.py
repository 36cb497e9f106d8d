"""View models of the pages that show no vehicle's records."""
