"""Pages of issued dossiers: for their issuer, for visitors of a shared link, for verification."""
