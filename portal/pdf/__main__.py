"""``python -m portal.pdf DESCRIPTOR``: the child process that ``PdfProcess`` starts."""

import sys

from portal.pdf.process import serve

if __name__ == "__main__":
    serve(int(sys.argv[1]))
