// A device interrupts a program. The handler is more urgent, and the program is
// not to have a turn while it works; a watchdog notices when nothing happens.
//
// expect holds 217 385
// expect --ltl served --fair holds

byte pending, handled;
bool busy;
bool halted;

active proctype program() provided (!busy) {
  byte work;
  {
progress:
    do
    :: work < 2 -> work++
    :: work == 2 -> work = 0
    od
  } unless {
    halted
  };
  goto done;
done:
  skip
}

active proctype device() {
  pending = 1;
  pending == 0;
  pending = 1;
  pending == 0
}

active proctype handler() priority 5 {
  do
  :: atomic { pending > 0 -> busy = true };
     handled = handled + pending;
     pending = 0;
accept_handled:
     busy = false
  :: handled == 2 -> break
  od;
  assert(_priority >= 1 && get_priority(_pid) == _priority);
  set_priority(_pid, 1)
}

active proctype watchdog() {
  if
  :: timeout -> skip
  :: handled == 2 -> skip
  fi;
  assert(_nr_pr > 0);
  halted = true
}

ltl served { <> (handled == 2) }
