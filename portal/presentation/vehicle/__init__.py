"""View models of a vehicle's page and its panels."""
