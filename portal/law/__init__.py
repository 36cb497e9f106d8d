"""The legal consequences of a vehicle's records, such as points and deadlines."""
