package rules

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"redlocksim/checker"
	"redlocksim/sim/kernel"
)

// Findings is what was found, when the run is over, ordered by kind and resource: the first of a kind on a resource, or two of
// them, the first that faults excuse and the first that they do not.
func (r *Run) Findings() []checker.Finding {
	for _, tell := range r.onEnd {
		tell()
	}
	for _, w := range r.rules {
		r.Watched[w.Name] = w.judged
	}
	slices.SortStableFunc(r.findings, func(a, b checker.Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Resource, b.Resource))
	})
	return r.findings
}

// found notes a finding. Of those of a kind on a resource the first that faults excuse is kept, and the first that they do not;
// the others are counted.
func (r *Run) found(f checker.Finding) {
	i := slices.IndexFunc(r.findings, func(x checker.Finding) bool {
		return x.Kind == f.Kind && x.Resource == f.Resource && x.Excusable() == f.Excusable()
	})
	if i >= 0 {
		r.findings[i].Count++
		return
	}
	f.Count = 1
	r.findings = append(r.findings, f)
}

// broken notes that a lock does not keep what it promises whatever goes wrong, in a sentence without its full stop.
func (w *watch) broken(resource, format string, args ...any) {
	w.brokenOf(w.Kind, resource, format, args...)
}

// brokenOf is broken for a finding of another kind than the rule's.
func (w *watch) brokenOf(kind checker.Kind, resource, format string, args ...any) {
	w.found(w.finding(kind, w.World.Kernel.Now(), w.World.Kernel.Now(), resource, format, args...))
}

// brokenWithin is broken for what a lock promises only while nothing goes wrong that the budget does not allow.
func (w *watch) brokenWithin(resource, format string, args ...any) {
	f := w.finding(w.Kind, w.World.Kernel.Now(), w.World.Kernel.Now(), resource, format, args...)
	f.Assumes = true
	w.found(f)
}

// brokenFrom is broken for what lasted from one moment to another.
func (w *watch) brokenFrom(from, to kernel.True, resource, format string, args ...any) {
	w.found(w.finding(w.Kind, from, to, resource, format, args...))
}

func (r *Run) finding(kind checker.Kind, from, to kernel.True, resource, format string, args ...any) checker.Finding {
	f := checker.Finding{Kind: kind, Resource: resource, From: checker.Instant(from), To: checker.Instant(to),
		FromSeq: r.seqAt(from), ToSeq: r.seqAt(to), Text: fmt.Sprintf(format, args...) + "."}
	f.Seqs = slices.Compact([]int{f.FromSeq, f.ToSeq})
	return f
}

// seqAt is the last event of the history up to a moment; 0 if there is none.
func (r *Run) seqAt(t kernel.True) int {
	h := r.World.History()
	return sort.Search(len(h), func(i int) bool { return h[i].Time > int64(t) })
}
