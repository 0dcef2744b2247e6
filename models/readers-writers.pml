// Readers together, or one writer.
//
// GREEDY lets a writer in while somebody reads.
//
// expect holds
// expect --ltl exclusive holds
// expect --ltl writes --fair violated
// expect -DGREEDY violated

byte readers, writers;

active [2] proctype reader() {
  do
  :: atomic { writers == 0 -> readers++ };
     assert(writers == 0);
     readers--
  od
}

active [2] proctype writer() {
  do
#ifdef GREEDY
  :: atomic { writers == 0 -> writers++ };
#else
  :: atomic { writers == 0 && readers == 0 -> writers++ };
#endif
     assert(readers == 0 && writers == 1);
     writers--
  od
}

ltl exclusive { [] !(readers > 0 && writers > 0) }
ltl writes { []<> (writers > 0) }
