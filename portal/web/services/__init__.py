"""What pages and JSON API share: sessions, lookups, dossiers, and the object that holds them."""
