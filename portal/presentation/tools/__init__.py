"""View models of the pages for batches of plates, for comparing vehicles and for negotiation."""
