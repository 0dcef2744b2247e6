"""The property of calls.prop as a breakpoint of gdb: the peer of the benchmark.

    gdb -nx -q -batch -x calls_gdb.py --args calls THREADS CALLS
"""

import gdb


class Ticks(gdb.Breakpoint):
    """Reads the argument, asks the guard, keeps the state, never stops."""

    def __init__(self):
        # The first instruction: `n` is still in its register.
        super().__init__("*tick", internal=True)
        self.silent = True
        self.state = "counting"
        self.seen = 0

    def stop(self):
        n = int(gdb.parse_and_eval("$edi"))
        if self.state == "counting":
            if n >= 0:
                self.seen += 1
            else:
                self.state = "negative"
                return True
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

ticks = Ticks()
gdb.execute("run")
print("seen=%d" % ticks.seen)
