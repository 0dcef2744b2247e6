// A sliding window over a channel that loses messages.
//
// The sender has up to WINDOW messages under way and numbers them modulo
// MODULUS; the receiver confirms the last one that came in order. With as many
// numbers as the window is wide (NARROW), an old message is taken for a new one.
//
// expect holds
// expect -DNARROW violated

#define WINDOW 2
#ifdef NARROW
#define MODULUS 2
#else
#define MODULUS 3
#endif
#define CONTENTS 5

mtype = { message, confirmation };

chan forth = [2] of {mtype, byte, byte};
chan back  = [2] of {mtype, byte};

active proctype sender() {
  byte first, next, number;      // the oldest that is not confirmed, the next
  byte under_way;
  do
  :: under_way < WINDOW ->
     forth!message(next % MODULUS, next);
     next = (next + 1) % (MODULUS * CONTENTS);
     under_way++
  :: back?confirmation(number) ->
     do
     :: under_way > 0 && first % MODULUS != number ->
        first = (first + 1) % (MODULUS * CONTENTS);
        under_way--
     :: else -> break
     od
  :: under_way > 0 && empty(back) && empty(forth) ->   // nothing came: again
     next = first;
     under_way = 0
  od
}

active proctype receiver() {
  byte expected, number, contents;
  do
  :: forth?message(number, contents) ->
     if
     :: number == expected % MODULUS ->
        assert(contents == expected);
        expected = (expected + 1) % (MODULUS * CONTENTS)
     :: else
     fi;
     back!confirmation(expected % MODULUS)
  :: forth?message(_, _)                               // it is lost
  :: back?confirmation(_)
  od
}
