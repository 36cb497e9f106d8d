"""The five JSON paths of the contract, their cache of hits, and their description."""
