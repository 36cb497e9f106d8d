"""The upstream's JSON paths, the paths under ``/api/v1``, and their OpenAPI file."""
