"""HTTP features that all routes share: headers, compression, limits, errors, assets."""
