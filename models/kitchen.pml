// Orders go to a kitchen and come back as dishes, in the order in which the cook takes
// them. That is said by a trace of the messages, and not by the processes.
//
// A cook in a hurry takes two orders before he looks which he takes up first. With
// FORBID the trace is one that must not happen: two orders of fish at the beginning.
//
// expect holds 126 238
// expect -DFORBID violated
// expect -DHURRY violated

mtype = { soup, fish }
chan orders = [2] of { mtype };
chan dishes = [0] of { mtype, byte };

active proctype guest() {
	byte table = 3;
	mtype dish;

	do
	:: orders!soup
	:: orders!fish
	:: dishes?dish,eval(table)
	:: skip -> break
	od;
end:
	dishes?dish,_ -> goto end
}

active proctype cook() {
	mtype order;
#ifdef HURRY
	mtype later;
#endif

end:
	do
	:: orders?order ->
#ifdef HURRY
		if
		:: orders?later -> dishes!later,3
		:: empty(orders)
		fi;
#endif
		dishes!order,3
	od
}

#ifdef FORBID
notrace { orders!fish; orders!fish }
#else
trace {
end:
	do
	:: orders?soup -> dishes!soup
	:: orders?fish -> dishes!fish,_
	od
}
#endif
