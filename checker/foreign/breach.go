package foreign

import "redlocksim/checker"

// breach is a rule of the lock that an operation breaks.
type breach struct {
	kind          checker.Kind
	first, second int32 // the operations that conflict; first is none if there is no such
	// basis and proof are those of the hold that first began, if it is of a lock with leases.
	basis, proof int32
	// others are what began the holds of those who held a semaphore beside the first.
	others []int32
}

const none = -1

// conflict is a breach that no hold with a lease is part of.
func conflict(kind checker.Kind, first, second int32) breach {
	return breach{kind: kind, first: first, second: second, basis: none, proof: none}
}

// judgement is what the operations on a lock break.
type judgement struct {
	// breaches has, of the overlaps of holds, the first only; more is how many others there are.
	breaches []breach
	more     int
	// undecided says why it is not known whether there is another breach; empty if it is.
	undecided string
	// err says why a lock that several can hold cannot be judged; nil if it can.
	err error
}

// What is found here beside what the checker itself finds.
const (
	// NotHeld is the finding of a release or extend that succeeded though the lock, as far as anybody can know, was not
	// held, or not by this process.
	NotHeld checker.Kind = "not-held"
	// TokenGap is the finding of a grant without a known token that lies between two whose tokens leave no whole number
	// for it.
	TokenGap checker.Kind = "token-gap"
	// TokenChanged is the finding of a holder that acquires again and gets another token than that of its hold.
	TokenChanged checker.Kind = "token-changed"
)
