"""View models of the batch pages, the comparison and the negotiation sheet."""
