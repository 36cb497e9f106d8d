"""HTTP concerns of all routes: headers, compression, limits, errors, assets."""
