import sys

from dossie_veicular_client.cli import main

sys.exit(main())
