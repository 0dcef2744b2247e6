#!/bin/sh
# Tests the extension, without VS Code and in a real one: run.sh [TEST FILES]
#
# Needs node (20 or later), and the npm packages below, which are installed once into a directory
# outside of the repository. Exit status: 0 passed, 1 failed, 2 something is missing.
#   JUROR_EXECUTABLE      the executable; without it, or if it has no `dap`, the session with the
#                         real adapter is left out
#   JUROR_VSCODE_MODULES  the directory of the packages; default: juror-vscode-modules in the
#                         temporary directory
#   JUROR_CODE_SERVER     the directory of code-server, which code-server.sh installs; without it the
#                         session in a real VS Code is left out
#   JUROR_PAGE_MODULES    the directory of playwright-core, which the tests of the page install
#   JUROR_PAGE_CHROMIUM   the browser; default: chromium, found by name
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

# Why there is no session in a real editor; empty if there is one.
without_editor() {
    if [ -n "$(without_adapter)" ]; then
        without_adapter
    elif ! [ -d "${JUROR_CODE_SERVER:-/nowhere}/node_modules/code-server" ]; then
        echo "code-server is not in the directory JUROR_CODE_SERVER (code-server.sh DIRECTORY installs it)"
    elif ! [ -d "$JUROR_PAGE_MODULES/node_modules/playwright-core" ]; then
        echo "playwright-core is not in $JUROR_PAGE_MODULES (crates/web/tests/page/run.sh installs it)"
    elif ! [ -x "$JUROR_PAGE_CHROMIUM" ]; then
        echo "Chromium is not installed (apt install chromium)"
    fi
}

export JUROR_PAGE_MODULES="${JUROR_PAGE_MODULES:-${TMPDIR:-/tmp}/juror-page-modules}"
export JUROR_PAGE_CHROMIUM="${JUROR_PAGE_CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}"

if [ $# -eq 0 ]; then
    for file in "$here"/*.test.js; do
        reason=
        case $file in
        */session.test.js) reason=$(without_adapter) ;;
        */editor.test.js) reason=$(without_editor) ;;
        esac
        if [ -n "$reason" ]; then
            echo "$(basename "$file") is left out: $reason" >&2
            continue
        fi
        set -- "$@" "$file"
    done
fi
node --test "$@" || exit 1
