"""View models of the pages that are not about one vehicle."""
