"""Operating-system resources, such as open files, threads and shared directories."""
