#!/bin/sh
# Packages the extension: package.sh [FILE.vsix]
#
# Needs node (20 or later) and npm. The packager is installed once into a directory outside of the
# repository. Exit status: 0 packaged, 1 failed, 2 something is missing.
#   JUROR_VSCODE_MODULES  the directory of the packages; default: juror-vscode-modules in the
#                         temporary directory
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# Later versions need node 22.
packager=@vscode/vsce@3.9.2

missing() {
    echo "the extension cannot be packaged: $1" >&2
    exit 2
}

command -v node >/dev/null || missing "node is not installed (apt install nodejs)"
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || missing "node is older than 20: $(node --version)"
modules=${JUROR_VSCODE_MODULES:-${TMPDIR:-/tmp}/juror-vscode-modules}
vsce=$modules/node_modules/.bin/vsce
if ! [ -x "$vsce" ]; then
    command -v npm >/dev/null || missing "npm is not installed (apt install npm)"
    mkdir -p "$modules"
    npm install --no-audit --no-fund --prefix "$modules" "$packager" >&2 ||
        missing "npm could not install $packager into $modules"
fi

version=$(node -p "require('$here/package.json').version")
output=${1:-juror-$version.vsix}
case $output in
/*) ;;
*) output=$PWD/$output ;;
esac
cd "$here"
"$vsce" package --no-dependencies --out "$output" \
    --baseContentUrl https://github.com/juror-debugger/juror/blob/main/editors/vscode \
    --baseImagesUrl https://github.com/juror-debugger/juror/raw/main/editors/vscode
