package checker

import (
	"fmt"
	"sort"

	"redlocksim/history"
)

// addEffects reports writes that the resource accepted although their lease had ended.
//
// A write is stale if an effect of a later grant, a read or a write, was accepted before it, and merely late otherwise;
// it is never both. A grant is later than another if its acquire returned later. Effects under an acquire that did not
// return a grant are not judged, and make nothing stale.
func (r *Report) addEffects(t *transcript, l *leases) {
	type found struct {
		stale, late *Finding
		first       int  // the grant of the first effect
		several     bool // there were effects of others
	}
	all := map[string]*found{}
	latest := map[string]history.Event{}
	for e := range t.Events() {
		if e.Kind != history.Effect || e.Outcome != history.OK || e.Grant == 0 || e.Func == history.Mark {
			continue
		}
		grant := &t.ops[e.Grant]
		if !grant.granted() || grant.ret > e.Seq {
			continue
		}
		f := all[grant.resource]
		if f == nil {
			f = &found{first: e.Grant}
			all[grant.resource] = f
		}
		f.several = f.several || e.Grant != f.first
		seen, any := latest[grant.resource]
		later := any && t.ops[seen.Grant].ret > grant.ret
		window, ended := l.lastWindow(t, e.Grant, e.Seq)
		if e.Func == history.Write {
			r.Compared.Expiries++
			if f.several {
				r.Compared.Successors++
			}
		}
		switch {
		case e.Func != history.Write || !ended:
		case later:
			f.stale = count(f.stale, func() *Finding { return staleWrite(t, l, window, &seen, e) })
		default:
			f.late = count(f.late, func() *Finding { return acceptedAfterExpiry(t, window, e) })
		}
		if !any || t.ops[seen.Grant].ret < grant.ret {
			latest[grant.resource] = *e
		}
	}
	for _, resource := range t.resources {
		f := all[resource]
		if f == nil {
			continue
		}
		for _, finding := range []*Finding{f.stale, f.late} {
			if finding != nil {
				r.Findings = append(r.Findings, *finding)
			}
		}
	}
}

// count adds one to f, which is made if it is the first.
func count(f *Finding, first func() *Finding) *Finding {
	if f == nil {
		f = first()
	}
	f.Count++
	return f
}

// lastWindow returns the last window of the grant that began before seq, and whether it has ended by then. If there is
// none, because the lease expired before it was reported, the window is empty, at the acquire's return.
func (l *leases) lastWindow(t *transcript, grant, seq int) (span, bool) {
	windows := l.of(grant)
	i := sort.Search(len(windows), func(i int) bool { return windows[i].from > seq }) - 1
	if i < 0 {
		ret := t.ops[grant].ret
		return span{ret, ret}, true
	}
	return windows[i], windows[i].to < seq
}

func staleWrite(t *transcript, l *leases, window span, later, e *history.Event) *Finding {
	laterWindow, _ := l.lastWindow(t, later.Grant, later.Seq)
	first, second := t.ops[e.Grant].process, t.ops[later.Grant].process
	did := map[history.Func]string{history.Read: "read", history.Write: "written"}[later.Func]
	return &Finding{
		Kind: StaleWrite, Resource: t.on(e),
		Windows: []Window{
			t.window(first, e.Grant, window.from, window.to),
			t.window(second, later.Grant, laterWindow.from, laterWindow.to),
		},
		FromSeq: window.to, ToSeq: e.Seq, From: t.at(window.to), To: t.at(e.Seq),
		Seqs: ends(span{window.to, later.Seq}, span{e.Seq, e.Seq}),
		Text: fmt.Sprintf("%s wrote %d to %q %v after its lease (grant %d) had ended, and %v after %s had %s it under the later grant %d.",
			first, e.Number, t.on(e), t.at(e.Seq).Since(t.at(window.to)), e.Grant,
			t.at(e.Seq).Since(t.at(later.Seq)), second, did, later.Grant),
	}
}

func acceptedAfterExpiry(t *transcript, window span, e *history.Event) *Finding {
	process := t.ops[e.Grant].process
	return &Finding{
		Kind: AcceptedAfterExpiry, Resource: t.on(e),
		Windows: []Window{t.window(process, e.Grant, window.from, window.to)},
		FromSeq: window.to, ToSeq: e.Seq, From: t.at(window.to), To: t.at(e.Seq),
		Seqs: []int{window.to, e.Seq},
		Text: fmt.Sprintf("%s wrote %d to %q %v after its lease (grant %d) had ended, before any effect of a later one.",
			process, e.Number, t.on(e), t.at(e.Seq).Since(t.at(window.to)), e.Grant),
	}
}
