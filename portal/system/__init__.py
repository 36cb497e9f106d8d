"""Operating-system resources, such as open files, threads, shared directories."""
