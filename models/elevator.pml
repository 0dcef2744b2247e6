// An elevator for three floors.
//
// It goes up and down as long as somebody waits, and opens its door only while
// it stands. FORGETFUL turns at every floor.
//
// expect holds
// expect --ltl safe holds
// expect --ltl served --fair holds
// expect -DFORGETFUL --ltl served --fair violated

#define FLOORS 3

bool called[FLOORS];
byte floor;
bool open, moving, up = true;

active proctype elevator() {
  do
  :: called[0] || called[1] || called[2] ->
     if
     :: called[floor] ->
        open = true;
        called[floor] = false;
        open = false
     :: else
     fi;
     if
     :: called[0] || called[1] || called[2] ->
#ifdef FORGETFUL
        up = !up;
#endif
        if
        :: floor == 0 -> up = true
        :: floor == FLOORS - 1 -> up = false
        :: else
        fi;
        moving = true;
        if
        :: up -> floor++
        :: else -> floor--
        fi;
        moving = false
     :: else
     fi
  od
}

active proctype people() {
  do
  :: called[0] = true
  :: called[1] = true
  :: called[2] = true
  od
}

active proctype checker() {
end:
  !(open && moving) -> goto end
}

ltl safe { [] !(open && moving) }
ltl served { [] (called[2] -> <> (floor == 2)) }
