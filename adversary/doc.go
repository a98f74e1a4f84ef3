// Package adversary places faults where the arithmetic of a lock is tight: an adversary who knows the nodes' clocks, chooses
// how long each message takes among the times that the network allows, and spends a budget of assumptions on one kind of
// attack, at the worst moments. Start at [Find] and [Attack.Run].
//
// Every attack is placed by events of the run and says what it must have reached. One that did not come to that is not
// tested, and is no evidence that the lock is safe.
package adversary
