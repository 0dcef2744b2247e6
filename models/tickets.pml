// A counter that gives tickets: who is served has the ticket with its number.
//
// A process is run and its number written down in one step, so nobody is served
// without a ticket. LATE writes it down in a step of its own.
//
// expect holds
// expect -DLATE violated

#define PLACES 3
#define FIRST 100

byte ticket[PLACES];
bool served[PLACES];

inline after(place) {
  return (place + 1) % PLACES
}

proctype guest(byte place) {
  assert(ticket[place] == FIRST + _pid);
  served[place] = true
}

init {
  byte place, count, number;
  do
  :: count < PLACES ->
#ifdef LATE
     number = run guest(place);
     ticket[place] = FIRST + number;
#else
     ticket[place] = FIRST + run guest(place);
#endif
     place = after(place);
     count++
  :: else -> break
  od;
  _nr_pr == 1;
  assert(place == 0 && served[0] && served[1] && served[2])
}
