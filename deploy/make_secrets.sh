#!/bin/sh
# Make the secrets that compose.yaml and the Kubernetes manifest read from files, in the directory
# that the first argument names. Files that exist are kept, so it may run again. The upstream's
# credential is the operator's own: write it into DIRECTORY/upstream_token.
#
# The directory is closed to other users of this machine. Its files are readable, because compose
# mounts them with their modes, and the portal runs as a user of its own in the container.
set -eu

[ $# -eq 1 ] || { echo "usage: make_secrets.sh DIRECTORY" >&2; exit 2; }
umask 077
mkdir -p "$1"
chmod 0700 "$1"
cd "$1"

random() { # 256 bits in hexadecimal digits
    od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'
}

keep() { # NAME TEXT: write a file, unless it exists
    [ -e "$1" ] && { echo "kept $1"; return; }
    printf '%s\n' "$2" >"$1.new"
    chmod 0444 "$1.new"
    mv "$1.new" "$1"
    echo "made $1"
}

keep secret_key "$(random)"
keep metrics_token "$(random)"
keep postgres_password "$(random)"
keep valkey_password "requirepass $(random)"
keep database_url "postgresql://portal:$(cat postgres_password)@postgres/portal"
keep redis_url "redis://:$(cut -d ' ' -f 2 valkey_password)@valkey"
