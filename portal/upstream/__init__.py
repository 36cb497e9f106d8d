"""Sends requests to the upstream, with circuit breakers and failover between addresses."""
