"""Pages of issued dossiers: for whoever issued one, for a link's visitor, and verification."""
