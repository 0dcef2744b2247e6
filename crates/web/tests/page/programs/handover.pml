/* Two clerks hand over parcels; the second never confirms the last one. */
chan parcel = [0] of { byte };
chan receipt = [0] of { byte };
byte stored = 0;

active proctype sender()
{
    byte number = 1;
    do
    :: number <= 2 -> parcel!number; receipt?_; number++
    :: else -> break
    od
}

active proctype clerk()
{
    byte number;
    do
    :: parcel?number -> stored++;
       if
       :: stored < 2 -> receipt!number
       :: else -> break
       fi
    od
}
