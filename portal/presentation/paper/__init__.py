"""View models of the dossier, the printed document about a vehicle.

The court restrictions and some other parts of the dossier use the view models of
``portal.presentation.vehicle``.
"""
