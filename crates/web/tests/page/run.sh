#!/bin/sh
# Tests the live page in a browser: run.sh [TEST FILES]
#
# Needs node (20 or later), Chromium, and the npm packages below, which are installed once into a
# directory outside of the repository. Exit status: 0 passed, 1 failed, 2 something is missing.
#   JUROR_EXECUTABLE        the executable; without it the page is tested over a server that plays its part
#   JUROR_PAGE_MODULES      the directory of the packages; default: juror-page-modules in the
#                           temporary directory
#   JUROR_PAGE_CHROMIUM     the browser; default: chromium, found by name
#   JUROR_PAGE_SCREENSHOTS  a directory for pictures of the page; default: none are written
#   JUROR_UPDATE            1 writes the pictures of the README and the book anew
set -eu

packages="playwright-core@1.65.1 axe-core@4.14.1"
here=$(cd "$(dirname "$0")" && pwd)

missing() {
    echo "the page cannot be tested: $1" >&2
    exit 2
}

command -v node >/dev/null || missing "node is not installed (apt install nodejs)"
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || missing "node is older than 20: $(node --version)"
chromium=${JUROR_PAGE_CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[ -x "$chromium" ] || missing "Chromium is not installed (apt install chromium)"
modules=${JUROR_PAGE_MODULES:-${TMPDIR:-/tmp}/juror-page-modules}
if ! [ -d "$modules/node_modules/playwright-core" ] || ! [ -d "$modules/node_modules/axe-core" ]; then
    command -v npm >/dev/null || missing "npm is not installed (apt install npm)"
    mkdir -p "$modules"
    # shellcheck disable=SC2086 # the packages are words
    npm install --no-audit --no-fund --prefix "$modules" $packages >&2 ||
        missing "npm could not install $packages into $modules"
fi

export JUROR_PAGE_MODULES="$modules" JUROR_PAGE_CHROMIUM="$chromium"
if [ $# -eq 0 ]; then
    for file in "$here"/*.test.mjs; do
        case $file in
        */juror.test.mjs | */million.test.mjs | */pictures.test.mjs)
            if [ -z "${JUROR_EXECUTABLE:-}" ]; then
                echo "$(basename "$file") is left out: JUROR_EXECUTABLE is not set" >&2
                continue
            fi
            ;;
        esac
        set -- "$@" "$file"
    done
fi
# One browser at a time: the tests measure, too.
node --test --test-concurrency=1 "$@" || exit 1
