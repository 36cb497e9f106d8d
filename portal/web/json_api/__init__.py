"""The five JSON paths of the API contract, their hit cache and their OpenAPI document."""
