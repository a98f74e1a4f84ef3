package checker

import (
	"cmp"
	"slices"
	"time"
)

// Finding is a rule that the history breaks on a resource, shown on the first place where it does.
type Finding struct {
	Kind     Kind
	Resource string // empty if NotTested
	// Count is how often the rule is broken on the resource: LeaseOverlap, the holds that begin, and the confirmed holds
	// that lie, inside another client's; StaleWrite and AcceptedAfterExpiry, such writes; HolderRefused, such requests;
	// LostUpdate, the writes over another number than was read.
	Count int
	// Windows are the witnesses in the order in which they began. LeaseOverlap: the two holds, or one more than a semaphore
	// has permits; a hold that is only confirmed is shown as the operation that confirms it. StaleWrite: the ended lease and
	// the later one; AcceptedAfterExpiry: the ended lease; HolderRefused: the lease that lasted; LostUpdate: the critical
	// sections, from the call of the read to the end of the write, the one whose write was lost and the one that overwrote it.
	// Tokens: the two grants.
	Windows []Window
	// FromSeq and ToSeq, From and To enclose the violation. LeaseOverlap: the overlap of the two holds, ToSeq 0 if it
	// never ended; StaleWrite and AcceptedAfterExpiry: from the end of the lease to the write; LostUpdate: from the
	// write that was lost to the write over it. Tokens: from the earlier grant or effect to the later.
	FromSeq, ToSeq int
	From, To       Instant
	// Seqs are the events that show it, ascending.
	Seqs []int
	// Text says it in one sentence.
	Text string
	// Assumes says that it shows a defect only while nothing goes wrong that the budget does not allow, although of its kind
	// that is not said.
	Assumes bool
}

// Excusable says that faults beyond the budget excuse it: that two clients hold the lock then was never excluded. That a client
// is told what is not true, or sends what it should not, or leaves a key behind, no fault excuses.
func (f *Finding) Excusable() bool { return f.Assumes || !f.Kind.Monitored() || f.Kind == Unprotected }

// Unavailable is a stretch of true time in which some client asked for a resource and nobody was granted.
type Unavailable struct {
	For            time.Duration
	From, To       Instant
	FromSeq, ToSeq int      // the events that begin and end it; ToSeq 0: the end of the run
	Clients        []string // who asked in the meantime, sorted
}

// Resource is what was measured on one resource.
type Resource struct {
	Name    string
	Grants  int // successful acquires
	Clients int // processes that called acquire
	// Unavailable is the longest such time, counted from the end of the last critical section; the first of equals;
	// zero if there was none.
	Unavailable Unavailable
	// Unheld is the longest such time in which nobody believed in the lock either, as one does whom a fault keeps from
	// releasing it.
	Unheld time.Duration
	// Takeover is the longest time until a holder that was gone had a successor.
	Takeover Takeover
	// Attempts is how many attempts a wait made at the most, granted or not. The steps of an acquire say which attempt
	// they belong to; an acquire without any is one attempt.
	Attempts Count
	// Bypass is how many grants to others a wait saw go by at the most, and Overtakes how many of them to others who had
	// begun to ask later. Re-entrant grants do not count.
	Bypass, Overtakes Count
	// Fairness is Jain's index over the numbers of grants of the processes that asked: 1 is equal, 0 that nobody was
	// granted. It says little where not all of them asked all the time.
	Fairness float64
	// AfterHealing is the slowest of the processes that ask after all faults were undone (a fault called heal): from there,
	// or from when it first asks, to its first grant. No wait if the history has no healing, or nobody asks after it.
	AfterHealing Wait
}

// Unchecked is a lock of which porcupine was not asked, or did not answer within its bounds, whether too many held it: the
// second opinion is missing.
type Unchecked struct{ Resource, Why string }

// Compared counts what the rules had to compare: that a rule found nothing says nothing if it compared nothing.
type Compared struct {
	// Holds are those that followed another process' on the same resource.
	Holds int
	// Contested are the acquires during which another process held the same resource.
	Contested int
	// Expiries are the accepted writes whose lease had a time at which it could have ended before.
	Expiries int
	// Successors are the accepted writes that came after an effect of another grant.
	Successors int
	// LateWrites are the writes whose lease had ended, and that reached the resource after it had accepted an effect of a later
	// grant: it accepted them, or refused them for the token, version or mark that they carried.
	LateWrites int
	// Fenced are the requests that carried a token, version or mark to a resource that had accepted an effect of another grant.
	Fenced int
	// Rightful are the requests that carried a token, version or mark while their lease lasted, and before the resource
	// accepted anything of a later grant.
	Rightful int
	// Unmarked are the writes that the resource refused and that carried nothing by which it could have accepted them.
	Unmarked int
	// Updates are the critical sections that could have lost the update of another.
	Updates int
	// GrantTokens are the tokens of grants that were compared with those of earlier ones, and EffectTokens those of accepted
	// effects.
	GrantTokens, EffectTokens int
	// SecondOpinions are the questions that porcupine answered about something.
	SecondOpinions int
	Watched        Watched
}

// Watched is how often each rule of package rules had something to judge, by its name. Beside them it counts permits that were
// granted (PermitGranted) and work that was done under all of a semaphore (AllPermitsHeld).
type Watched map[string]int

// What is counted in Watched that is not the name of a rule.
const (
	PermitGranted  = "permit-granted"
	AllPermitsHeld = "all-permits-held"
)

// Report is what a history shows.
type Report struct {
	// Findings has at most one for a kind and resource, or two of rules, one that faults excuse and one that they do not.
	// They are ordered by kind, in the order in which the kinds are declared, and then by resource.
	Findings []Finding
	// Unchecked says what was not checked twice.
	Unchecked []Unchecked
	// Grants is the number of successful acquires.
	Grants int
	// Compared is how much each rule had to compare.
	Compared Compared
	// Resources has every resource that the history names in a call or effect, sorted by name.
	Resources []Resource
}

// Passed reports whether mutual exclusion held: no violation, and enough happened to tell.
func (r Report) Passed() bool {
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind.Violation() || f.Kind == NotTested })
}

// NotTested says why the run shows nothing about the lock. It is empty if it does, as every run with a finding that no lock
// should show.
func (r Report) NotTested() string {
	for _, f := range r.Findings {
		if f.Kind == NotTested {
			return f.Text
		}
	}
	return ""
}

// Implies says that a finding goes without saying beside the others. Unprotected does beside another violation: before two
// clients can hold a lock, a quorum of nodes must mostly have lost the first one's keys.
func (r *Report) Implies(f *Finding) bool {
	return f.Kind == Unprotected && slices.ContainsFunc(r.Findings, func(o Finding) bool { return o.Kind.Violation() && o.Kind != Unprotected })
}

// Shows is the kinds, of those that are asked for, of the findings that do not go without saying.
func (r *Report) Shows(is func(Kind) bool) []Kind {
	return r.Kinds(func(f *Finding) bool { return is(f.Kind) && !r.Implies(f) })
}

// Kinds are those of such findings, each once, in the order of a report.
func (r *Report) Kinds(are func(*Finding) bool) (kinds []Kind) {
	for i := range r.Findings {
		if f := &r.Findings[i]; !slices.Contains(kinds, f.Kind) && are(f) {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// Add adds what was found otherwise than from the history.
func (r *Report) Add(findings ...Finding) {
	r.Findings = append(r.Findings, findings...)
	r.settle()
}

// settle orders the findings. That too little happened is one only if nothing was found that no lock should show.
func (r *Report) settle() {
	if slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind.Defect() }) {
		r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Kind == NotTested })
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Kind.place(), b.Kind.place()), cmp.Compare(a.Resource, b.Resource))
	})
}
