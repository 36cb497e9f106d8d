"""View models of the pages for the portal's operator."""
