// Package orders goes through all orders in which the messages of a small world can arrive and its timers can fire, by
// running the very library again and again, each time with other choices (stateless model checking, Godefroid 1997).
// Start at [Explore]; [Small] makes a small world of a scenario.
//
// # What is gone through
//
// A step of a run is the arrival of a message, a timer that fires when it is due, the start of a program, a fault that may
// be injected at any moment, once, or that time goes on to the next moment for which something is scheduled, at last to the end
// of the run. Any message can arrive before any other, those of one link too: every exchange has a connection of its own
// (network.Link). Messages take effect at moments for which something is scheduled and not between them, and at one true moment
// whatever the timeline does comes first. How often time may go on while messages are under way is bounded by setup.Late;
// without the bound every message can be late by any number of such moments. A message that never arrives is one that
// arrives at the end.
//
// # What is left out, and why that loses nothing
//
// Two runs that differ in the order of independent steps end alike, so that one of them is enough (Mazurkiewicz traces).
// The reduction is source-DPOR with sleep sets (Abdulla, Aronis, Jonsson, Sagonas 2014, Optimal Dynamic Partial Order
// Reduction, algorithm 1), which extends dynamic partial-order reduction (Flanagan and Godefroid 2005). It rests on which
// steps are independent of each other, and that is kept conservative:
//
//   - A step of a client is its own state's: a reply, a timer or a program's start. Two steps of the same client always
//     depend on each other, those of different clients do not, as clients share nothing but the nodes.
//   - A request at a node reads the node's memory, and writes it if the memory was another one afterwards. Two requests
//     at a node depend on each other unless both left it as it was. Requests at different nodes are independent.
//   - A step that bears on the verdict, since a belief begins or ends in it or the resource takes an effect, depends on all
//     others that do: the checker goes by their order.
//   - Time that goes on depends on everything: whoever reads a clock would read another time.
//   - A fault depends on the steps of the process that it affects, if it is a step or pause of that process or its end, and
//     otherwise on everything.
//   - A step depends on the one that sent its message or set its timer, and one that takes away what could have happened
//     (a timer is stopped, a reply is not waited for any more) on that.
//
// Replies that nobody waits for and timers of the dead do nothing, and are no steps.
package dpor
