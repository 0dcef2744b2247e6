// Breakpoints by traps, in a program with several threads.
//
// After N. Ramsey, Correctness of Trap-Based Breakpoint Implementations (1994).
// The breakpoint is at AT; what can follow it is AFTER. A thread asks the
// processor to execute an instruction. Where a trap stands, the processor tells
// the engine instead, which moves the trap between the two places.
//
// While the original instruction is back, no other thread may execute. MISSED
// drops that rule: then a thread passes through the breakpoint unseen.
//
// SHIPPED puts the engine of the debugger itself in the place of the one that is
// written here; its tests give it to the model.
//
// expect holds 37153 80930
// expect -DTHREADS=3 holds 2643841 8004098
// expect -DMISSED violated

#ifndef THREADS
#define THREADS 2
#endif

#define AT      0
#define AFTER   1
#define OUTSIDE 2
#define PLACES  3

chan attempt[THREADS] = [0] of {bit};    // a thread wants to execute
chan go_on[THREADS]   = [0] of {bit};    // the processor has tried
chan trapped          = [0] of {byte};   // a thread ran into a trap
chan release          = [0] of {bit};    // the engine is done with it
chan report           = [0] of {byte};   // the debugger hears of an arrival
bit nothing;                             // what these messages carry

bool trap[PLACES];
byte counter[THREADS];                   // where each thread is
byte executed[THREADS];                  // how often it passed AT, modulo 4
byte reported[THREADS];                  // how often that was reported
byte armed = AT;                         // which place has the trap
bit inside[THREADS];                     // the thread is between AT and AFTER
byte held = 0;                           // other threads must not execute

#define CONSISTENT (armed == AT && trap[AT] == 1 && trap[AFTER] == 0 || \
                    armed == AFTER && trap[AT] == 0 && trap[AFTER] == 1)

proctype processor() {
  byte thread = 0;
  do
  :: attempt[thread]?nothing ->
     if
     :: trap[counter[thread]] -> trapped!thread; release?nothing
     :: !trap[counter[thread]] ->
        if
        :: counter[thread] == AT -> counter[thread] = AFTER
        :: counter[thread] != AT ->
           if
           :: counter[thread] = OUTSIDE
           :: counter[thread] = AT
           :: counter[thread] = AFTER
           fi
        fi
     fi;
     go_on[thread]!nothing;
     if
     :: held == 0 ->
        atomic {
          if
          :: thread = 0
#if THREADS > 1
          :: thread = 1
#endif
#if THREADS > 2
          :: thread = 2
#endif
          fi
        }
     :: held > 0 -> skip
     fi
  od
}

proctype program(byte me) {
  do
  :: if
     :: counter[me] == AT ->
        attempt[me]!nothing; go_on[me]?nothing;
        if
        :: counter[me] != AT -> executed[me] = (executed[me] + 1) % 4
        :: counter[me] == AT -> skip
        fi
     :: counter[me] != AT ->
        attempt[me]!nothing; go_on[me]?nothing
     fi;
     assert(counter[me] != OUTSIDE || executed[me] == reported[me])
  od
}

proctype debugger() {
  byte thread;
  do
  :: atomic { report?thread -> reported[thread] = (reported[thread] + 1) % 4 }
  od
}

#ifdef MISSED
#define impossible skip
#else
#define impossible assert(false)
#endif

#ifdef SHIPPED
extern proctype engine()
#else
proctype engine() {
  byte thread;
  do
  :: trapped?thread ->
     if
     :: armed == AT ->
        if
        :: !inside[thread] -> report!thread; inside[thread] = 1
        :: inside[thread] -> impossible
        fi;
#ifndef MISSED
        held = held + 1;
#endif
        atomic { trap[AT] = 0; trap[AFTER] = 1; armed = AFTER; assert(CONSISTENT) }
     :: armed == AFTER ->
        if
        :: inside[thread] -> inside[thread] = 0
        :: !inside[thread] -> impossible
        fi;
        atomic { trap[AT] = 1; trap[AFTER] = 0; armed = AT; assert(CONSISTENT) }
#ifndef MISSED
        ; held = held - 1
#endif
     fi;
     release!nothing
  od
}
#endif

init {
  byte thread;
  atomic {
    trap[AT] = 1;
    thread = 0;
    do
    :: thread < THREADS ->
       counter[thread] = OUTSIDE;
       executed[thread] = 0; reported[thread] = 0;
       inside[thread] = 0;
       if
       :: thread == THREADS - 1 -> break
       :: thread < THREADS - 1 -> thread = thread + 1
       fi
    od;
    run program(0);
#if THREADS > 1
    run program(1);
#endif
#if THREADS > 2
    run program(2);
#endif
    run debugger(); run engine(); run processor()
  }
}
