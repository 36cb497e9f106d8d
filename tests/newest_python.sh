#!/bin/sh
# Prints the newest supported Python that is installed: on the PATH, or by pyenv.
pyenv_root=$(pyenv root 2>/dev/null || echo /nonexistent)
for version in 3.14 3.13 3.12 3.11; do
    for python in "python$version" "$pyenv_root"/versions/"$version".*/bin/python; do
        # A pyenv shim exists for versions that are not selected too, and then fails.
        if "$python" -c '' 2>/dev/null; then
            echo "$python"
            exit 0
        fi
    done
done
echo "no Python 3.11 or newer found" >&2
exit 1
