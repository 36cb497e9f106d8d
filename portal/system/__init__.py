"""Operating-system resources: open files, shared directories, the environment."""
