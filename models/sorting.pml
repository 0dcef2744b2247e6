// Numbers sorted by a row of processes, each of which keeps the greatest that
// it has seen and passes the others on.
//
// expect holds

#ifndef COUNT
#define COUNT 4
#endif

byte sorted[COUNT];
byte done;

proctype keeper(chan left; byte more) {
  chan right = [1] of {byte};
  byte kept, came, i;
  left?kept;
  if
  :: more > 0 ->
     run keeper(right, more - 1);
     for (i : 1 .. more) {
       left?came;
       if
       :: came > kept -> right!kept; kept = came
       :: else -> right!came
       fi
     }
  :: else
  fi;
  atomic {
    sorted[more] = kept;
    done++
  }
}

init {
  chan first = [1] of {byte};
  byte i, number;
  run keeper(first, COUNT - 1);
  for (i : 1 .. COUNT) {
    select(number : 1 .. 3);
    first!number
  }
  done == COUNT;
  for (i : 1 .. COUNT - 1) {
    assert(sorted[i - 1] <= sorted[i])
  }
}
