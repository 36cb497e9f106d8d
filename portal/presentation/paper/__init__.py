"""View models of the dossier, the printed document about a vehicle.

Some parts of the dossier, such as court restrictions and next steps, need no view models of their
own. They use those of ``portal.presentation.vehicle``.
"""
