#!/bin/sh
# Chromium, Redis, PgBouncer beside PostgreSQL, Prometheus, LibreOffice without windows, nginx, Caddy,
# qpdf, poppler's pdfsig, and the libraries WeasyPrint loads: installed where they are missing and this
# user may; otherwise the tests that need them skip and say so. systemd would start nginx and Caddy on port 80, so they are installed without it only.
#
# The first argument is the browser: Chromium without windows for the tests, or chromium. The tests
# run with chromium too, in four times the time. The second argument "engines" adds Firefox and WebKit.
can_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }
browser="${1:-chromium-headless-shell}"
missing=""
command -v "$browser" >/dev/null 2>&1 || ! can_install && command -v chromium >/dev/null 2>&1 ||
    missing="$missing $browser"
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
[ ! -d /usr/lib/postgresql ] || command -v pgbouncer >/dev/null 2>&1 || missing="$missing pgbouncer"
ldconfig -p 2>/dev/null | grep -q libpangoft2 || missing="$missing libpango-1.0-0 libpangoft2-1.0-0"
ldconfig -p 2>/dev/null | grep -q libharfbuzz-subset || missing="$missing libharfbuzz-subset0"
command -v promtool >/dev/null 2>&1 || missing="$missing prometheus"
command -v qpdf >/dev/null 2>&1 || missing="$missing qpdf"
command -v pdfsig >/dev/null 2>&1 || missing="$missing poppler-utils"
command -v soffice >/dev/null 2>&1 || missing="$missing libreoffice-calc-nogui"
if [ ! -d /run/systemd/system ]; then
    PATH="$PATH:/usr/sbin" command -v nginx >/dev/null 2>&1 || missing="$missing nginx-light"
    command -v caddy >/dev/null 2>&1 || missing="$missing caddy"
fi
if [ "${2:-}" = engines ]; then
    command -v firefox-esr >/dev/null 2>&1 || command -v firefox >/dev/null 2>&1 || missing="$missing firefox-esr"
    command -v WebKitWebDriver >/dev/null 2>&1 || missing="$missing webkit2gtk-driver"
    command -v Xvfb >/dev/null 2>&1 || missing="$missing xvfb"
fi
[ -n "$missing" ] || exit 0
if can_install; then
    echo "installing$missing"
    log=$(mktemp)
    apt-get update -qq >"$log" 2>&1
    # Releases before 2025 have no package without windows; the tests then use chromium.
    case "$missing" in
    *chromium-headless-shell*)
        if ! apt-cache show chromium-headless-shell >/dev/null 2>&1; then
            missing=$(echo "$missing" | sed s/chromium-headless-shell/chromium/)
        fi ;;
    esac
    # Some distributions have only a package with windows, which is large: those tests then skip.
    if ! apt-cache show libreoffice-calc-nogui >/dev/null 2>&1; then
        missing=$(echo "$missing" | sed s/libreoffice-calc-nogui//)
    fi
    if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >"$log" 2>&1; then
        rm -f "$log"
    else
        tail -3 "$log"
        echo "could not install$missing: tests that need them skip"
    fi
else
    echo "not root or no apt:$missing missing, tests that need them skip"
fi
exit 0
