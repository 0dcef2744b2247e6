// How a debugger gets past its own breakpoint, with a processor for each thread.
//
// An instruction with a trap in its place cannot be executed; so the debugger puts
// the original back for a while, or executes a copy of it. The instruction at FIRST
// has a breakpoint, that at SECOND comes after it. No execution of an instruction
// with a breakpoint may be missed, and none reported twice.
//
// Ways past it: in place, with a trap at the next instruction; in place, with the
// processor's TRACE_FLAG; a DISPLACED copy, for which no trap is lifted.
// What the program is like: ADJACENT, there is a breakpoint at SECOND, too; SELF, the
// instruction at FIRST may branch to itself.
// Rules that can be dropped, each of which is needed:
//   HOLD_LATE   the others are held before the trap is lifted
//   NO_HOLD     the others are held at all
//   PLANT_LATE  the trap is back before they are released
//   IMPOSSIBLE  a thread that ran into the trap before it was held is kept for later
//   BOOLEAN     traps are counted by address
//
// expect -DTHREADS=1 holds 36 39
// expect holds 338 515
// expect -DTHREADS=3 holds 2377 4724
// expect -DTHREADS=4 holds 14486 35644
// expect -DTRACE_FLAG holds 254 404
// expect -DTHREADS=3 -DTRACE_FLAG holds 1855 3851
// expect -DDISPLACED holds 80 186
// expect -DTHREADS=3 -DDISPLACED holds 553 1910
// expect -DTHREADS=4 -DDISPLACED holds 3582 16434
// expect -DTHREADS=1 -DADJACENT holds 52 55
// expect -DADJACENT holds 748 1044
// expect -DTHREADS=3 -DADJACENT holds 7525 13253
// expect -DADJACENT -DTRACE_FLAG holds 578 830
// expect -DADJACENT -DDISPLACED holds 164 354
// expect -DSELF -DTRACE_FLAG holds 356 550
// expect -DSELF -DDISPLACED holds 80 210
// expect -DTHREADS=1 -DSELF violated
// expect -DTHREADS=1 -DADJACENT -DBOOLEAN violated
// expect -DHOLD_LATE violated
// expect -DNO_HOLD violated
// expect -DNO_HOLD -DTRACE_FLAG violated
// expect -DPLANT_LATE violated
// expect -DIMPOSSIBLE violated

#ifndef THREADS
#define THREADS 2
#endif

#define ELSEWHERE 0
#define FIRST     1
#define SECOND    2
#define PLACES    3

#ifdef ADJACENT
#define has_breakpoint(place) (place != ELSEWHERE)
#else
#define has_breakpoint(place) (place == FIRST)
#endif

byte traps[PLACES];        // how many want a trap there
byte at[THREADS];          // where each thread is
bool running[THREADS];     // it executes instructions
bool stopped[THREADS];     // the debugger is told of it
bool traced[THREADS];      // it stops after one instruction
bool copied[THREADS];      // it executes the copy next
bool reported[THREADS];    // the debugger knows that it is at a breakpoint

#ifdef BOOLEAN
#define plant(place) traps[place] = 1
#define lift(place)  traps[place] = 0
#else
#define plant(place) traps[place]++
#define lift(place)  traps[place]--
#endif

proctype program(byte me) {
  do
  :: atomic {
       running[me] && traps[at[me]] > 0 && !copied[me] ->
       running[me] = false; stopped[me] = true
     }
  :: atomic {
       running[me] && (traps[at[me]] == 0 || copied[me]) ->
       copied[me] = false;
       if
       :: has_breakpoint(at[me]) -> assert(reported[me]); reported[me] = false
       :: else
       fi;
       if
       :: at[me] == FIRST -> at[me] = SECOND
#ifdef SELF
       :: at[me] == FIRST -> skip
#endif
       :: at[me] == SECOND -> at[me] = ELSEWHERE
       :: at[me] == ELSEWHERE -> at[me] = FIRST
       :: at[me] == ELSEWHERE -> skip
       fi;
       if
       :: traced[me] -> traced[me] = false; running[me] = false; stopped[me] = true
       :: else
       fi
     }
  od
}

inline hold_others() {
  for (other : 0 .. THREADS - 1) {
    if
    :: other != thread -> running[other] = false
    :: else
    fi
  }
}

inline release_others() {
  for (other : 0 .. THREADS - 1) {
    if
    :: other != thread && !stopped[other] -> running[other] = true
    :: else
    fi
  }
}

inline resume() {
  atomic { stopped[thread] = false; running[thread] = true }
}

#ifdef IMPOSSIBLE
#define nobody_else_stopped \
  for (other : 0 .. THREADS - 1) { assert(other == thread || !stopped[other]) }
#else
#define nobody_else_stopped skip
#endif

proctype debugger() {
  byte thread, other, place, next;
  do
  :: atomic {
       if
       :: stopped[0] -> thread = 0
#if THREADS > 1
       :: stopped[1] -> thread = 1
#endif
#if THREADS > 2
       :: stopped[2] -> thread = 2
#endif
#if THREADS > 3
       :: stopped[3] -> thread = 3
#endif
       fi;
       place = at[thread];
       assert(has_breakpoint(place) && !reported[thread]);
       reported[thread] = true
     }
#ifdef DISPLACED
     copied[thread] = true;
#else
#ifndef HOLD_LATE
#ifndef NO_HOLD
     hold_others();
#endif
#endif
     lift(place);
#ifdef HOLD_LATE
     hold_others();
#endif
#ifdef TRACE_FLAG
     traced[thread] = true;
#else
     next = (place + 1) % PLACES;
     plant(next);
#endif
     resume();
     stopped[thread];
     nobody_else_stopped;
#ifndef TRACE_FLAG
     lift(next);
#endif
#ifdef PLANT_LATE
     release_others();
     plant(place);
#else
     plant(place);
#ifndef NO_HOLD
     release_others();
#endif
#endif
#endif
     resume()
  od
}

init {
  byte thread;
  atomic {
    plant(FIRST);
#ifdef ADJACENT
    plant(SECOND);
#endif
    for (thread : 0 .. THREADS - 1) { running[thread] = true; run program(thread) }
    run debugger()
  }
}
