"""What is known of one vehicle, and what follows from it. Every face is made from this object."""
