"""View models of the dossier, the printed document about a vehicle.

For court restrictions and next steps, the dossier uses the view models of
``portal.presentation.vehicle``.
"""
