// Package attacks places faults where the arithmetic of a lock is tight. The adversary knows the clocks of the nodes,
// chooses how long each message takes within what the network allows, and uses a budget of assumptions for one kind of
// attack, at the worst moments. Start at [Find] and [Attack.Run].
//
// An attack is placed by events of the run, and states what it must have reached. If it does not reach that, it is not
// tested, and no evidence that the lock is safe.
package attacks
