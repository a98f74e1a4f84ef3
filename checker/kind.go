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
	// package rules.
	NeedlesslyUnavailable Kind = "needlessly-unavailable"
	// BusyWait: a client that waited for the lock asked again and again without a pause; see package rules.
	BusyWait Kind = "busy-wait"
	// HolderRefused: the resource refused a request of the client that held the lock, although it carried a token, version or
	// mark and nothing of a later holder had been accepted. It keeps the holder from its work.
	HolderRefused Kind = "holder-refused"
	// NotTested: too little happened for the run to say anything, and nothing was violated.
	NotTested Kind = "not-tested"
)

// kinds are in the order of a report, each with what it comes to. Those that package foreign adds stand there by their names:
// it imports this package.
var kinds = []struct {
	kind Kind
	word Word
}{
	{LeaseOverlap, TwoHolders},
	{StaleWrite, LateWrite},
	{AcceptedAfterExpiry, Holds},
	{LostUpdate, LateWrite},
	{TokenRegressed, BreaksPromise},
	{TokenRepeated, BreaksPromise},
	{Conduct, BreaksPromise},
	{Contract, BreaksPromise},
	{Refinement, BreaksPromise},
	{Unprotected, BreaksPromise},
	{Leftover, Leaks},
	{NeedlesslyUnavailable, Stuck},
	{BusyWait, BreaksPromise},
	{HolderRefused, Stuck},
	{NotTested, Untested},
	{"not-held", BreaksPromise},
	{"token-changed", BreaksPromise},
}

// place is where the kind is among the kinds; −1 if it is none.
func (k Kind) place() int {
	for i := range kinds {
		if kinds[i].kind == k {
			return i
		}
	}
	return -1
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

// Monitored reports whether a finding of this kind comes from a rule of package rules, which sees what the nodes hold, and
// not from the history.
func (k Kind) Monitored() bool {
	return k == Conduct || k == Contract || k == Refinement || k == Unprotected || k.Liveness() && k != HolderRefused
}

// Word is what people are told of a lock: what findings of several kinds come to for whoever uses it. Every text for people
// takes its word from here; files, exit codes and JSON have kinds.
type Word string

// The words, the worst first, as texts have them.
const (
	// TwoHolders: two clients had the lock at once.
	TwoHolders Word = "two holders"
	// LateWrite: the resource took a write that came too late, or that rests on a number which somebody had written over.
	LateWrite Word = "late write"
	// Stuck: nobody is granted a lock that nobody has, or the resource does not let its holder work.
	Stuck Word = "stuck"
	// Leaks: a key outlives its lock, and keeps others waiting.
	Leaks Word = "leaks"
	// BreaksPromise: what a client sends, is told, or is protected by is not what the lock promises.
	BreaksPromise Word = "breaks a promise"
	// Untested: what was to be tested did not take place.
	Untested Word = "not tested"
	// Holds: none of these.
	Holds Word = "holds"
)

// Words are all words, in their order.
func Words() []Word {
	return []Word{TwoHolders, LateWrite, Stuck, Leaks, BreaksPromise, Untested, Holds}
}

// Word is what a finding of this kind comes to.
func (k Kind) Word() Word {
	if i := k.place(); i >= 0 {
		return kinds[i].word
	}
	return ""
}

// Says is the word, with the kind behind it.
func (k Kind) Says() string {
	if k == NotTested {
		return string(Untested)
	}
	return string(k.Word()) + " (" + string(k) + ")"
}
