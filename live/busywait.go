//go:build linux

package live

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/monitor"
)

// wait is a call for a lock, from one time of the run to another, beside which its client made no other call about locks.
type wait struct {
	client, resource string
	op               int
	from, to         int64
	seq              int // of its call
}

// busyWaits finds the waits in which a lock program asked again and again without pauses, of those on a resource the first, and
// counts the requests that were looked at. Package monitor sees each pause. Here some are the machine's, so that the requests
// to a node are compared with how many there can be with the shortest pauses.
func (r *run) busyWaits(h history.History) (found []checker.Finding, requests int) {
	for _, w := range waits(h) {
		for _, server := range r.Servers {
			during := r.sent[w.client].To(server.Name, r.start+w.from/r.Speed, r.start+w.to/r.Speed)
			requests += len(during)
			for len(during) > monitor.RequestsInARow {
				from, to := during[0], during[monitor.RequestsInARow]
				if to-from >= monitor.RequestsInARow*int64(monitor.LeastPause) {
					during = during[1:]
					continue
				}
				during = during[monitor.RequestsInARow+1:]
				i := slices.IndexFunc(found, func(f checker.Finding) bool { return f.Resource == w.resource })
				if i < 0 {
					i = len(found)
					found = append(found, checker.Finding{Kind: checker.BusyWait, Resource: w.resource, FromSeq: w.seq, ToSeq: w.seq, Seqs: []int{w.seq},
						From: checker.Instant((from - r.start) * r.Speed), To: checker.Instant((to - r.start) * r.Speed),
						Text: fmt.Sprintf("%s has sent %d requests to %s within %v, while it waits for the lock.", w.client, monitor.RequestsInARow+1,
							server.Name, time.Duration(to-from).Round(time.Millisecond/10))})
				}
				found[i].Count++
			}
		}
	}
	return found, requests
}

// waits are those of a history, in the order of their ends.
func waits(h history.History) []wait {
	var over, open []wait
	alone := map[int]bool{} // by operation
	end := func(at int64, is func(wait) bool) {
		open = slices.DeleteFunc(open, func(w wait) bool {
			if !is(w) {
				return false
			}
			if w.to = at; alone[w.op] {
				over = append(over, w)
			}
			return true
		})
	}
	last := int64(0)
	for i := range h {
		e := &h[i]
		last = e.Time
		isAboutLocks := e.Func == history.Acquire || e.Func == history.Extend || e.Func == history.Release
		switch {
		case e.Kind == history.Crash:
			end(e.Time, func(w wait) bool { return w.client == e.Process })
		case !isAboutLocks || e.With != 0 && e.With != e.Op: // one call for several resources counts as that for the first
		case e.Kind == history.Return:
			end(e.Time, func(w wait) bool { return w.op == e.Op })
		case e.Kind == history.Call:
			alone[e.Op] = e.Func == history.Acquire
			for _, w := range open {
				if w.client == e.Process {
					alone[e.Op], alone[w.op] = false, false
				}
			}
			open = append(open, wait{client: e.Process, resource: e.Resource, op: e.Op, from: e.Time, seq: e.Seq})
		}
	}
	end(last, func(wait) bool { return true })
	return over
}
