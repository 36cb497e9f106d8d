"""Pages of issued dossiers for the issuer, for visitors of a shared link, and for verification."""
