"""The contract's five JSON paths, their hit cache and their OpenAPI document."""
