package checker

// Kind is what a finding is of.
type Kind string

const (
	// LeaseOverlap: two clients believed in the lock at the same true time.
	LeaseOverlap Kind = "lease-overlap"
	// StaleWrite: a write of an ended lease was accepted after an effect of a later grant (Kleppmann 2016).
	StaleWrite Kind = "stale-write"
	// AcceptedAfterExpiry: a write was accepted after its own lease ended, before any effect of a later grant. An
	// observation, not a violation.
	AcceptedAfterExpiry Kind = "accepted-after-expiry"
	// LostUpdate: a critical section wrote over a number that it had not read. Only effects show it.
	LostUpdate Kind = "lost-update"
	// TokenRegressed: a grant got a lower fencing token than an earlier one, or the resource accepted an effect with a lower
	// token than it had accepted before.
	TokenRegressed Kind = "token-regressed"
	// TokenRepeated: two grants got the same fencing token.
	TokenRepeated Kind = "token-repeated"
	// Conduct: what reached the nodes is nothing that a lock should send; see package rules.
	Conduct Kind = "conduct"
	// Contract: what a call returned, or the library reported, is not true; see package rules.
	Contract Kind = "contract"
	// Refinement: the library took a step that the specification of Redlock does not allow; see package spec.
	Refinement Kind = "refinement"
	// Unprotected: a client believed in its lock while a quorum of nodes would have granted it to another; see package rules.
	Unprotected Kind = "unprotected"
	// Leftover: a key outlived the lock that it stood for; see package rules. It keeps others waiting.
	Leftover Kind = "leftover"
	// NeedlesslyUnavailable: somebody asked for a lock that nobody had, nothing was in the way, and nobody was granted it; see
	// package monitor.
	NeedlesslyUnavailable Kind = "needlessly-unavailable"
	// BusyWait: a client that waited for the lock asked again and again without a pause; see package rules.
	BusyWait Kind = "busy-wait"
	// HolderRefused: the resource refused a request of the client that held the lock, although it carried a token or a mark and
	// nothing of a later holder had been accepted. It keeps the holder from its work.
	HolderRefused Kind = "holder-refused"
	// NotTested: too little happened for the run to say anything, and nothing was violated.
	NotTested Kind = "not-tested"
)

var kinds = []Kind{
	LeaseOverlap, StaleWrite, AcceptedAfterExpiry, LostUpdate, TokenRegressed, TokenRepeated, Conduct, Contract,
	Refinement, Unprotected, Leftover, NeedlesslyUnavailable, BusyWait, HolderRefused, NotTested,
}

// Violation reports whether a finding of this kind means that mutual exclusion failed.
func (k Kind) Violation() bool { return k.Defect() && !k.Liveness() }

// Liveness reports whether a finding of this kind means that somebody is kept from the lock, or from the work under it, without
// need, or that the nodes are kept busy with that.
func (k Kind) Liveness() bool {
	return k == Leftover || k == NeedlesslyUnavailable || k == BusyWait || k == HolderRefused
}

// Defect reports whether a lock that keeps its promises never shows a finding of this kind.
func (k Kind) Defect() bool { return k != AcceptedAfterExpiry && k != NotTested }

// Monitored reports whether a finding of this kind comes from a monitor, who sees what the nodes hold, and not from the
// history.
func (k Kind) Monitored() bool {
	return k == Conduct || k == Contract || k == Refinement || k == Unprotected || k.Liveness() && k != HolderRefused
}
