"""What people and scripts see: JSON paths, pages, health."""
