// Mutual exclusion of two processes without locks (G. L. Peterson, 1981).
//
// HASTY asks whose turn it is before it says that it wants to enter.
//
// expect holds
// expect --ltl mutual_exclusion holds
// expect --ltl enters --fair holds
// expect --ltl enters violated
// expect -DHASTY violated

bool wants[2];
byte turn;
byte inside;

active [2] proctype process() {
  do
  ::
#ifdef HASTY
     turn = 1 - _pid;
     wants[_pid] = true;
#else
     wants[_pid] = true;
     turn = 1 - _pid;
#endif
     !wants[1 - _pid] || turn == _pid;
     inside++;
critical:
     assert(inside == 1);
     inside--;
     wants[_pid] = false
  od
}

ltl mutual_exclusion { [] (inside <= 1) }
ltl enters { []<> (process[0]@critical) }
