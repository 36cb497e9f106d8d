"""The sandbox: a simulated upstream with fictitious vehicles and errors."""
