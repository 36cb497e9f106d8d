"""What the operating system gives a process: open files, shared directories, the environment."""
