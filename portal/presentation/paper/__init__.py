"""View models of the dossier, the printed document about a vehicle.

Court restrictions and next steps need no module here: the dossier prints those of the vehicle's
page (``portal.presentation.vehicle``), with ``templates/components/restriction_on_paper.html``.
"""
