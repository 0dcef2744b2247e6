#!/bin/sh
# Installs VS Code as a server, for the test in a real editor: code-server.sh DIRECTORY
#
# The test finds it there by JUROR_CODE_SERVER. Needs node (20), npm, a C++ compiler and make. The
# scripts of its packages are not executed, since they download programs that the test does not
# need; of its modules in machine code, those that it does need are built. About 300 MB.
# Exit status: 0 installed, 1 failed, 2 something is missing.
set -eu

# Later versions need node 22.
server=code-server@4.99.4

missing() {
    echo "code-server cannot be installed: $1" >&2
    exit 2
}

[ $# -eq 1 ] || missing "give a directory for it"
for tool in node npm c++ make; do
    command -v "$tool" >/dev/null || missing "$tool is not installed"
done
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -eq 20 ] || missing "it needs node 20: $(node --version)"
mkdir -p "$1"
cd "$1"

quiet="--no-audit --no-fund --ignore-scripts"
# Headers that are installed are not downloaded.
headers=$(node -p 'require("path").resolve(process.execPath, "../..")')
gyp="node $(npm root --global)/npm/node_modules/node-gyp/bin/node-gyp.js rebuild"
[ ! -f "$headers/include/node/node.h" ] || gyp="$gyp --nodedir=$headers"

# shellcheck disable=SC2086 # the options are words
{
    npm install $quiet --prefix . "$server"
    (cd node_modules/code-server/lib/vscode && npm install $quiet --omit=dev)
    (cd node_modules/argon2 && $gyp --napi_build_version=3 --module_name=argon2 \
        --module_path="$PWD/lib/binding/napi-v3")
    for module in node-pty @vscode/spdlog native-watchdog; do
        (cd "node_modules/code-server/lib/vscode/node_modules/$module" && $gyp)
    done
} >&2
echo "code-server is in $1"
