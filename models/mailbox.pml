// Letters are sorted into a box by their urgency, and each is answered over the
// channel that it brings. Somebody looks into the box without taking anything.
//
// LOST expects the answer to another letter.
//
// expect holds 2656 8763
// expect --ltl answered --fair holds
// expect -DLOST violated

#if !defined(SENDERS)
#define SENDERS 2
#endif
#define reply(word) atomic { now.back!word, now.from; answers++; balance++; now.urgency = 0; now.from = 0; now.back = 0 }

mtype = { urgent, plain };
mtype:answer = { yes, no };

typedef letter {
  mtype urgency;
  byte from;
  chan back
}

chan box = [SENDERS] of { mtype, byte, chan };
unsigned seen : 3 = 0;
short balance = 0;
int answers;
pid writer[SENDERS];
bit open = 1;
hidden byte scratch;

inline send(kind) {
  atomic {
    nfull(box) -> box!!kind, me, back
  }
}

proctype sender(byte me) {
  chan back = [1] of { mtype:answer, byte };
  mtype:answer said;
  xr back;
  byte other;
  if
  :: me % 2 == 0 -> send(urgent)
  :: else -> send(plain)
  fi;
#ifdef LOST
  back?said, other;
  assert(other == me + 1)
#else
  back?said, eval(me);
  balance = balance - 1
#endif
}

proctype clerk() {
  letter now;
  byte count;
end:
  do
  :: box??[urgent, _, _] -> box??urgent, now.from, now.back; reply(yes)
  :: !box??[urgent, _, _] && nempty(box) -> box?now.urgency, now.from, now.back; reply(no)
  :: answers == SENDERS -> empty(box); break
  od;
  skip;
  d_step {
    for (count : 0 .. SENDERS - 1) {
      scratch = writer[count]
    };
    scratch = 0;
    count = 0;
    open = 0
  }
}

proctype onlooker() {
  byte first;
  mtype kind;
  do
  :: atomic { box?<kind, first, _> -> seen = (open -> 1 : 0) + (len(box) == SENDERS -> 2 : 0); kind = 0; first = 0 }
  :: full(box) -> seen = 4
  :: !open -> break
  od;
  seen = 0
}

init {
  byte number;
  select (number : 1 .. 2);
  atomic {
    for (number in writer) {
      writer[number] = run sender(number)
    };
    run clerk();
    run onlooker()
  }
  number = ~(~0) ^ (1 << 1) & 2 | 0 >> 1;
  printf("%d letters, %e\n", number, urgent);
  printm(plain)
}

ltl answered { <> (answers == SENDERS) }
