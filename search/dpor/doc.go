// Package dpor explores all orders in which the messages of a small world can arrive and its timers can fire, with dynamic
// partial-order reduction. It runs the library itself again and again, each time with other choices (stateless model checking,
// Godefroid 1997). Start at [Worlds] and [Search].
//
// # What is explored
//
// A step of a run is the arrival of a message, the firing of a timer that is due, the start of a program, a fault that may
// be injected once, at any moment, or the passing of time to the next moment for which something is scheduled, finally to
// the end of the run. Any message can arrive before any other, those of one link too: every exchange has a connection of
// its own (network.Link). Messages take effect at moments for which something is scheduled and not between them, and at one
// true moment the timeline comes first. The parameter late of Search bounds how often time may pass while messages are
// under way; without the bound every message can be late by any number of such moments. A lost message is one that arrives
// at the end.
//
// # What is skipped, and why nothing is lost
//
// Two runs that differ only in the order of independent steps end alike, so one of them is enough (Mazurkiewicz traces).
// The reduction is source-DPOR with sleep sets (Abdulla, Aronis, Jonsson, Sagonas 2014, Optimal Dynamic Partial Order
// Reduction, algorithm 1), which extends dynamic partial-order reduction (Flanagan and Godefroid 2005). It rests on which
// steps are independent of each other, and that is kept conservative:
//
//   - A step of a client is a reply, a timer or the start of a program. Two steps of one client always depend on each other;
//     those of different clients do not, since clients share nothing but the nodes.
//   - A request at a node reads the node's memory, and writes it if the memory changed. Two requests at a node depend on each
//     other unless neither changed it. Requests at different nodes are independent.
//   - Steps that bear on the verdict, because a client starts or stops believing in its lock or the resource takes an effect,
//     all depend on each other: the checker goes by their order.
//   - The passing of time depends on everything: whoever reads a clock would read another time.
//   - A fault depends on the steps of the process that it affects, if it is a step or pause of that process or its end, and
//     otherwise on everything.
//   - A step depends on the one that sent its message or set its timer, and one that takes away what could have happened
//     (a timer is stopped, a reply is not waited for any more) on that.
//
// Replies that nobody waits for and timers of dead processes do nothing, and are no steps.
package dpor
