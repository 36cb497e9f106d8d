"""``python app.py`` serves the portal; ``flask --app app`` runs its commands."""

from portal.factory import create_app
from portal.serving.process import main

__all__ = ["create_app", "main"]

if __name__ == "__main__":
    main()
