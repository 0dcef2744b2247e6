// Dining philosophers (E. W. Dijkstra, 1971).
//
// Each takes the fork at its left, then that at its right: all may sit there
// with one fork. With ORDERED the last one begins at its right.
//
// expect violated
// expect -DORDERED holds
// expect -DORDERED --ltl somebody_eats --fair holds

#define COUNT 4

chan fork[COUNT] = [1] of {bit};
byte eating;

proctype philosopher(byte me) {
  byte first = me;
  byte second = (me + 1) % COUNT;
#ifdef ORDERED
  if
  :: me == COUNT - 1 -> first = 0; second = me
  :: else
  fi;
#endif
  do
  :: fork[first]?_;
     fork[second]?_;
     eating++;
     eating--;
     fork[second]!1;
     fork[first]!1
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. COUNT - 1) {
      fork[i]!1;
      run philosopher(i)
    }
  }
}

ltl somebody_eats { []<> (eating > 0) }
