"""The properties gap.prop and gap_argument.prop as a breakpoint of gdb.

    gdb -nx -q -batch -x gap_gdb.py --args gap CALLS GAP_NS
"""

import gdb


class Calls(gdb.Breakpoint):
    """Reads the argument, counts, never stops."""

    def __init__(self):
        # The first instruction: `n` is still in its register.
        super().__init__("*nop", internal=True)
        self.silent = True
        self.seen = 0

    def stop(self):
        if int(gdb.parse_and_eval("$edi")) < 0:
            return True
        self.seen += 1
        return False


for setting in (
    "confirm off",
    "pagination off",
    "debuginfod enabled off",
    "startup-with-shell off",
):
    try:
        gdb.execute("set " + setting)
    except gdb.error:
        pass  # a gdb without this setting needs none

calls = Calls()
gdb.execute("run")
print("seen=%d" % calls.seen)
