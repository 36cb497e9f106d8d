"""The five JSON paths of docs/contract.md, the paths under ``/api/v1``, the OpenAPI document."""
