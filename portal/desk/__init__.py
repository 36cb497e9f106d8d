"""What one caller may ask for: the floor between the faces and the core."""
