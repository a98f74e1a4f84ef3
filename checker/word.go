package checker

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

// words has the word for each kind. The kinds that package foreign adds stand there by their names: it imports this package.
var words = map[Kind]Word{
	LeaseOverlap:          TwoHolders,
	StaleWrite:            LateWrite,
	AcceptedAfterExpiry:   Holds,
	LostUpdate:            LateWrite,
	TokenRegressed:        BreaksPromise,
	TokenRepeated:         BreaksPromise,
	Conduct:               BreaksPromise,
	Contract:              BreaksPromise,
	Refinement:            BreaksPromise,
	Unprotected:           BreaksPromise,
	Leftover:              Leaks,
	NeedlesslyUnavailable: Stuck,
	BusyWait:              BreaksPromise,
	HolderRefused:         Stuck,
	NotTested:             Untested,

	"not-held":      BreaksPromise,
	"token-changed": BreaksPromise,
}

// Word is what a finding of this kind comes to.
func (k Kind) Word() Word { return words[k] }

// Says is the word, with the kind behind it.
func (k Kind) Says() string {
	if k == NotTested {
		return string(Untested)
	}
	return string(k.Word()) + " (" + string(k) + ")"
}
