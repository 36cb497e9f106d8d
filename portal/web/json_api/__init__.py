"""The five JSON paths (docs/contract.md), their hit cache and OpenAPI document."""
