"""What every response and request has: headers, compression, limits, errors, assets."""
