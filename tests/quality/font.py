"""Make static/fonts/inter.woff2: a subset of Inter's variable font (`make font`, needs npm).

The source is the Latin file of the package @fontsource-variable/inter at VERSION. The subset holds
the characters of Portuguese texts, of typographic punctuation and of a few signs, and the features
for kerning and tabular figures. The weights are those that the style sheets use.
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
WEIGHTS: Final = "wght=400:700"


def main() -> None:
    """Write the font and its licence; fail if the font is larger than a page should load."""
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
        target = FONTS / "inter.woff2"
        latin, limited = source / "files" / "inter-latin-wght-normal.woff2", source / "limited.ttf"
        _font_tools("varLib.instancer", latin, WEIGHTS, f"--output={limited}")
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
