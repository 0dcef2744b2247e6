"""Fetches source packages of Debian, from the archives that the machine's own lists of sources name."""

import os
import re
import subprocess

LISTS = "/etc/apt"


def private_sources():
    """Returns the machine's sources as sources of source packages: those of apt's two forms, by file extension."""
    texts = {"list": "", "sources": ""}
    directory = os.path.join(LISTS, "sources.list.d")
    paths = [os.path.join(LISTS, "sources.list")]
    paths += [os.path.join(directory, name) for name in sorted(os.listdir(directory))] if os.path.isdir(directory) else []
    for path in paths:
        kind = path.rpartition(".")[2]
        if kind not in texts or not os.path.exists(path):
            continue
        with open(path) as file:
            text = file.read()
        text = re.sub(r"^deb(?= )", "deb-src", text, flags=re.M)
        texts[kind] += re.sub(r"^Types: *deb *$", "Types: deb-src", text, flags=re.M) + "\n"
    return texts


def fetch(name, directory, only=()):
    """Unpacks the upstream files of a package into `directory`, if it is not there.

    `only`: patterns of paths below the first directory of the archive.
    """
    if os.path.isdir(directory):
        return
    private = directory + ".apt"
    for part in ["lists/partial", "cache/archives/partial", "parts"]:
        os.makedirs(os.path.join(private, part), exist_ok=True)
    for kind, text in private_sources().items():
        with open(os.path.join(private, "parts", f"machine.{kind}"), "w") as file:
            file.write(text)
    with open(os.path.join(private, "apt.conf"), "w") as file:
        file.write(f'Dir::Etc::sourcelist "/dev/null";\nDir::Etc::sourceparts "{private}/parts";\n')
        file.write(f'Dir::State::lists "{private}/lists";\nDir::Cache "{private}/cache";\n')
        file.write('APT::Sandbox::User "root";\n')
    environment = dict(os.environ, APT_CONFIG=os.path.join(private, "apt.conf"))
    # The upstream archive is enough: a mirror may lack the others of a package.
    for line in [["update"], ["source", "--download-only", name]]:
        subprocess.run(["apt-get", "-qq", *line], cwd=private, env=environment, stderr=subprocess.DEVNULL)
    found = [one for one in sorted(os.listdir(private)) if one.startswith(name + "_") and re.search(r"\.orig\.tar\.\w+$", one)]
    if not found:
        raise FileNotFoundError(f"the source package of {name} could not be fetched")
    unpacked = os.path.join(private, "unpacked")
    os.makedirs(unpacked, exist_ok=True)
    patterns = ["--wildcards", *(f"*/{one}" for one in only)] if only else []
    subprocess.run(["tar", "xf", found[0], "-C", unpacked, "--strip-components=1", *patterns], cwd=private, check=True)
    os.rename(unpacked, directory)
