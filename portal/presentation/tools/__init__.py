"""View models of the comparison and the negotiation sheet."""
