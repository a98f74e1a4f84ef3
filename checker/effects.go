package checker

import (
	"fmt"
	"sort"

	"redlocksim/sim/history"
)

// addEffects reports writes that the resource accepted although their lease had ended, and requests of the holder that it
// refused.
//
// A write is stale if an effect of a later grant, a read or a write, was accepted before it, and merely late otherwise;
// it is never both. A grant is later than another if its acquire returned later. Effects under an acquire that did not
// return a grant are not judged, and make nothing stale. A request is refused rightly if its lease had ended, if it carried
// nothing by which the resource could have accepted it, or if an effect or a mark of a later grant was accepted before.
func (r *Report) addEffects(t *transcript, l *leases) {
	all := map[string]*guarded{}
	for i := range t.history {
		e := &t.history[i]
		if e.Kind != history.Effect || e.Outcome == history.Unknown {
			continue
		}
		if e.Grant != 0 && (!t.ops[e.Grant].granted() || t.ops[e.Grant].ret > e.Seq) {
			continue
		}
		g := all[t.on(e)]
		if g == nil {
			g = &guarded{}
			all[t.on(e)] = g
		}
		switch {
		case e.Grant == 0:
			r.addUnlocked(g, e)
		case e.Outcome == history.OK:
			r.addAccepted(t, l, g, e)
		default:
			r.addRefused(t, l, g, e)
		}
		if e.Func == history.Write && e.Outcome == history.OK {
			g.written = *e
		}
	}
	for _, resource := range t.resources {
		g := all[resource]
		if g == nil {
			continue
		}
		for _, finding := range []*Finding{g.stale, g.late, g.refused} {
			if finding != nil {
				r.Findings = append(r.Findings, *finding)
			}
		}
	}
}

// guarded is what a resource has accepted and refused so far.
type guarded struct {
	stale, late, refused *Finding
	// first is the grant of the first effect, marks left out; several: there were effects of others.
	first   int
	several bool
	// latest is the first effect of the latest grant, marks left out, and newest when the latest grant was returned of which an
	// effect or a mark was accepted; zero if there is none.
	latest history.Event
	newest int
	marked map[int]bool // grants whose mark was accepted
	// written is the last write; zero if there is none.
	written history.Event
}

// carried says whether a request had a token, a version or a mark that the resource could go by.
func (g *guarded) carried(e *history.Event) bool {
	return e.Token != 0 || e.Basis != 0 || g.marked[e.Grant]
}

// isOutdated says whether the holder itself is to blame that the version is not the resource's by which a refused write goes:
// the version is not of this lease, or the lease's own write came after it, or one of somebody without the lock, to whom
// nothing was promised.
func (g *guarded) isOutdated(t *transcript, e *history.Event) bool {
	return e.Basis != 0 && g.written.Seq > t.ops[e.Basis].call &&
		(t.ops[e.Basis].grant != e.Grant || g.written.Grant == e.Grant || g.written.Grant == 0)
}

// addUnlocked counts a request without the lock: nothing was promised to who sent it.
func (r *Report) addUnlocked(g *guarded, e *history.Event) {
	switch {
	case e.Token != 0 && g.first != 0:
		r.Compared.Fenced++
	case e.Token == 0 && e.Basis == 0 && e.Outcome == history.Failed && e.Func == history.Write:
		r.Compared.Unmarked++
	}
}

// addAccepted judges an effect that the resource accepted.
func (r *Report) addAccepted(t *transcript, l *leases, g *guarded, e *history.Event) {
	ret := t.ops[e.Grant].ret
	isLate := g.newest > ret
	g.newest = max(g.newest, ret)
	if e.Func == history.Mark {
		if g.marked == nil {
			g.marked = map[int]bool{}
		}
		g.marked[e.Grant] = true
		return
	}
	if g.first == 0 {
		g.first = e.Grant
	}
	g.several = g.several || e.Grant != g.first
	window, ended := l.lastWindow(t, e.Grant, e.Seq)
	later := g.latest.Grant != 0 && t.ops[g.latest.Grant].ret > ret
	if carried := g.carried(e); carried && g.several {
		r.Compared.Fenced++
	} else if carried && !ended && !isLate {
		r.Compared.Rightful++
	}
	if e.Func == history.Write {
		r.Compared.Expiries++
		if g.several {
			r.Compared.Successors++
		}
		if ended && isLate {
			r.Compared.LateWrites++
		}
	}
	switch {
	case e.Func != history.Write || !ended:
	case later:
		g.stale = count(g.stale, func() Finding { return staleWrite(t, l, window, &g.latest, e) })
	default:
		g.late = count(g.late, func() Finding { return acceptedAfterExpiry(t, window, e) })
	}
	if g.latest.Grant == 0 || t.ops[g.latest.Grant].ret < ret {
		g.latest = *e
	}
}

// addRefused judges a request that the resource turned down.
func (r *Report) addRefused(t *transcript, l *leases, g *guarded, e *history.Event) {
	if !g.carried(e) {
		if e.Func == history.Write {
			r.Compared.Unmarked++
		}
		return
	}
	window, ended := l.lastWindow(t, e.Grant, e.Seq)
	isLate := g.newest > t.ops[e.Grant].ret
	if g.several || g.first != 0 && g.first != e.Grant {
		r.Compared.Fenced++
	}
	switch {
	case ended && isLate && e.Func == history.Write:
		r.Compared.LateWrites++
	case !ended && !isLate && !g.isOutdated(t, e):
		r.Compared.Rightful++
		g.refused = count(g.refused, func() Finding { return holderRefused(t, window, e) })
	}
}

// count adds one to f, which is made if it is the first.
func count(f *Finding, first func() Finding) *Finding {
	if f == nil {
		made := first()
		f = &made
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

func staleWrite(t *transcript, l *leases, window span, later, e *history.Event) Finding {
	laterWindow, _ := l.lastWindow(t, later.Grant, later.Seq)
	f := t.finding(StaleWrite, t.on(e), span{window.to, e.Seq}, ends(span{window.to, later.Seq}, span{e.Seq, e.Seq}),
		t.windowOf(e.Grant, window), t.windowOf(later.Grant, laterWindow))
	did := map[history.Func]string{history.Read: "read", history.Write: "written"}[later.Func]
	f.Text = fmt.Sprintf(
		"%s wrote %d to %q %v after its lease (grant %d) had ended, and %v after %s had %s it under the later grant %d.",
		t.ops[e.Grant].process, e.Number, f.Resource, f.To.Since(f.From), e.Grant,
		f.To.Since(t.at(later.Seq)), t.ops[later.Grant].process, did, later.Grant)
	return f
}

func acceptedAfterExpiry(t *transcript, window span, e *history.Event) Finding {
	f := t.finding(AcceptedAfterExpiry, t.on(e), span{window.to, e.Seq}, []int{window.to, e.Seq}, t.windowOf(e.Grant, window))
	f.Text = fmt.Sprintf("%s wrote %d to %q %v after its lease (grant %d) had ended, before any effect of a later one.",
		t.ops[e.Grant].process, e.Number, f.Resource, f.To.Since(f.From), e.Grant)
	return f
}

func holderRefused(t *transcript, window span, e *history.Event) Finding {
	with := "whose mark it has"
	switch {
	case e.Token != 0:
		with = fmt.Sprintf("with the token %d", e.Token)
	case e.Basis != 0:
		with = "with the version that it had read"
	}
	f := t.finding(HolderRefused, t.on(e), span{window.from, e.Seq}, []int{window.from, e.Seq}, t.windowOf(e.Grant, window))
	f.Text = fmt.Sprintf(
		"%q refused a %s of %s %s, which held the lock (grant %d), although it had accepted nothing of a later holder.",
		f.Resource, e.Func, t.ops[e.Grant].process, with, e.Grant)
	return f
}
