"""Make the files in static/fonts: subsets of Inter's variable font (`make font`, needs npm).

The source is the Latin file of the package @fontsource-variable/inter at VERSION. The subsets hold
the characters of Portuguese texts, of typographic punctuation and of a few signs, and the features
for kerning and tabular figures. ``inter.woff2`` is variable. The other files have one weight each,
which saves WeasyPrint a tenth of its time for a dossier.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

VERSION: Final = "5.3.0"
FONTS: Final = Path(__file__).parents[2] / "static" / "fonts"
MOST_BYTES: Final = 40_000
# Printable ASCII, Latin-1, dashes, quotation marks, bullet, ellipsis, prime, euro, minus, arrows.
CHARACTERS: Final = (
    "U+0020-007E,U+00A0-00FF,U+2010-2015,U+2018-201A,U+201C-201E,U+2022,U+2026,U+202F,U+2032,"
    "U+2033,U+20AC,U+2212,U+2190-2193,U+2197,U+00D7,U+2011"
)
FEATURES: Final = "kern,ccmp,tnum"
# The weights that the style sheets use, by file.
FILES: Final = {"inter.woff2": "400:700", "inter-400.woff2": "400", "inter-600.woff2": "600"}


def main() -> None:
    """Write the fonts and their licence; fail if a font exceeds MOST_BYTES."""
    with tempfile.TemporaryDirectory() as folder:
        package = f"@fontsource-variable/inter@{VERSION}"
        packed = subprocess.run(
            ["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True
        )
        with tarfile.open(Path(folder) / packed.stdout.decode().split()[-1]) as archive:
            archive.extractall(folder, filter="data")
        source = Path(folder) / "package"
        FONTS.mkdir(exist_ok=True)
        (FONTS / "OFL.txt").write_bytes((source / "LICENSE").read_bytes())
        for name, weights in FILES.items():
            _write_subset(source / "files" / "inter-latin-wght-normal.woff2", weights, FONTS / name)


def _write_subset(source: Path, weights: str, target: Path) -> None:
    limited = source.with_name("limited.ttf")
    _font_tools("varLib.instancer", source, f"wght={weights}", f"--output={limited}")
    _font_tools(
        "subset",
        limited,
        f"--unicodes={CHARACTERS}",
        f"--layout-features={FEATURES}",
        "--flavor=woff2",
        f"--output-file={target}",
    )
    if (size := target.stat().st_size) > MOST_BYTES:
        sys.exit(f"{target.name} has {size:,} bytes, more than {MOST_BYTES:,}")


def _font_tools(tool: str, *arguments: str | Path) -> None:
    subprocess.run([sys.executable, "-m", f"fontTools.{tool}", *arguments], check=True)


if __name__ == "__main__":
    main()
