"""Says what ``portal.law`` finds: each finding in each of its forms, in Portuguese.

This is the last step before a face. Nothing that decides reads these words.
"""
