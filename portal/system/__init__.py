"""General helpers: process limits, shared files, the time zone and text formats."""
