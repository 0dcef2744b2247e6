"""The properties of keyed.c as a breakpoint of gdb: the peer of the benchmark.

    gdb -nx -q -batch -x keyed_gdb.py --args keyed THREADS CALLS KEYS
"""

import gdb


class Uses(gdb.Breakpoint):
    """Reads the arguments, asks the guard, keeps a state for each key, never stops."""

    def __init__(self):
        # The first instruction: the arguments are still in their registers.
        super().__init__("*use", internal=True)
        self.silent = True
        self.seen = {}

    def stop(self):
        key = int(gdb.parse_and_eval("$rdi"))
        if int(gdb.parse_and_eval("$esi")) < 0:
            return True
        self.seen[key] = self.seen.get(key, 0) + 1
        return False


for setting in (
    "confirm off",
    "pagination off",
    "debuginfod enabled off",
    "print thread-events off",
    "startup-with-shell off",
):
    try:
        gdb.execute("set " + setting)
    except gdb.error:
        pass  # a gdb without this setting needs none

uses = Uses()
gdb.execute("run")
print("seen=%d" % sum(uses.seen.values()))
