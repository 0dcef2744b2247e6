#!/bin/sh
# Tests the extension without VS Code: run.sh [TEST FILES]
#
# Needs node (20 or later), and the npm packages below, which are installed once into a directory
# outside of the repository. Exit status: 0 passed, 1 failed, 2 something is missing.
#   JUROR_EXECUTABLE      the executable; without it, or if it has no `dap`, the session with the
#                         real adapter is left out
#   JUROR_VSCODE_MODULES  the directory of the packages; default: juror-vscode-modules in the
#                         temporary directory
set -eu

packages="vscode-textmate@9.3.2 vscode-oniguruma@2.0.1"
here=$(cd "$(dirname "$0")" && pwd)

missing() {
    echo "the extension cannot be tested: $1" >&2
    exit 2
}

command -v node >/dev/null || missing "node is not installed (apt install nodejs)"
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || missing "node is older than 20: $(node --version)"
modules=${JUROR_VSCODE_MODULES:-${TMPDIR:-/tmp}/juror-vscode-modules}
if ! [ -d "$modules/node_modules/vscode-textmate" ] || ! [ -d "$modules/node_modules/vscode-oniguruma" ]; then
    command -v npm >/dev/null || missing "npm is not installed (apt install npm)"
    mkdir -p "$modules"
    # shellcheck disable=SC2086 # the packages are words
    npm install --no-audit --no-fund --prefix "$modules" $packages >&2 ||
        missing "npm could not install $packages into $modules"
fi
export JUROR_VSCODE_MODULES="$modules"

# Why there is no session with the real adapter; empty if there is one.
without_adapter() {
    if [ -z "${JUROR_EXECUTABLE:-}" ]; then
        echo "JUROR_EXECUTABLE is not set"
    elif ! "$JUROR_EXECUTABLE" dap --help >/dev/null 2>&1; then
        echo "$JUROR_EXECUTABLE has no \`dap\`"
    elif ! command -v cc >/dev/null; then
        echo "cc is not installed (apt install gcc)"
    fi
}

if [ $# -eq 0 ]; then
    reason=$(without_adapter)
    for file in "$here"/*.test.js; do
        if [ -n "$reason" ] && [ "$file" = "$here/session.test.js" ]; then
            echo "session.test.js is left out: $reason" >&2
            continue
        fi
        set -- "$@" "$file"
    done
fi
node --test "$@" || exit 1
