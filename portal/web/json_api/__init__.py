"""The JSON API: the five paths of docs/contract.md, ``/api/v1``, hit cache, OpenAPI document."""
