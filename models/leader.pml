// Election of a leader in a ring (E. Chang, R. Roberts, 1979).
//
// Everybody sends its number to the next one; greater numbers go on, smaller
// ones do not. Who gets its own number back is the leader. DEAF swallows
// every number but its own, and nobody is ever elected.
//
// expect holds
// expect --ltl elected holds
// expect --ltl the_greatest holds
// expect -DDEAF --ltl elected violated

#define SIZE 4

chan ring[SIZE] = [SIZE] of {byte};
byte leaders;
byte leader;

proctype node(byte me; byte number) {
  byte heard;
  ring[(me + 1) % SIZE]!number;
end:
  do
  :: ring[me]?heard ->
     if
     :: heard > number ->
#ifndef DEAF
        ring[(me + 1) % SIZE]!heard
#else
        skip
#endif
     :: heard < number -> skip
     :: heard == number ->
#ifndef DEAF
        atomic { leader = number; leaders++; assert(leaders == 1) }
#else
        skip
#endif
     fi
  od
}

init {
  atomic {
    run node(0, 3);
    run node(1, 1);
    run node(2, 4);
    run node(3, 2)
  }
}

ltl elected { <> (leaders == 1) }
ltl the_greatest { [] (leaders == 0 || leader == 4) }
