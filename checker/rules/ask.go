package rules

import (
	"fmt"
	"slices"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// ask is an acquire that has not returned.
type ask struct {
	*protocols.Call
	client *watchedClient
	made   int      // the number of its client in the process; see clients
	keys   []string // sorted
	lasts  bool     // as patience says of its TTL
	began  kernel.True
	// changes is how often something had become wrong, or right again, before it began.
	changes int
	// alone is since when the same acquires ask for any of these keys, and nobody has had one of them.
	alone kernel.True
	// free is, by node, from when on the keys are in nobody's way.
	free []kernel.True
	told bool
}

// isGivenUp says whether the caller of the acquire has given it up.
func (a *ask) isGivenUp() bool { return a.Context != nil && a.Context.Err() != nil }

// meets says whether two calls are about one resource.
func meets(a, b *protocols.Call) bool {
	return slices.ContainsFunc(a.Resources, func(r string) bool { return slices.Contains(b.Resources, r) })
}

// queuesWith says whether two acquires wait in one queue of a client.
func (a *ask) queuesWith(b *ask) bool {
	return a.Waits && b.Waits && a.client == b.client && a.made == b.made && slices.Equal(a.keys, b.keys)
}

// tell notes a finding that lasted from a moment until now, in a sentence without its full stop.
func (a *ask) tell(r *Run, from kernel.True, format string, args ...any) {
	seq := r.seqAt(from)
	r.found(checker.Finding{Kind: checker.NeedlesslyUnavailable, Resource: a.Resources[0], From: checker.Instant(from), FromSeq: seq,
		To: r.now(), ToSeq: r.seq(), Seqs: slices.Compact([]int{seq, r.seq()}), Text: fmt.Sprintf(format, args...) + "."})
}
