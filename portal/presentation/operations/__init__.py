"""View models of the operator's pages."""
