//go:build linux

package live

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/checker/rules"
	"redlocksim/sim/history"
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
	if r.options.Lock == nil {
		return nil, 0
	}
	inRun := func(at int64) checker.Instant { return checker.Instant((at - r.start) * r.speed) }
	for _, w := range waits(h) {
		for _, server := range r.servers {
			during := r.linkOf(w.client, server.Name).Up.Came(r.start+w.from/r.speed, r.start+w.to/r.speed)
			requests += len(during)
			for _, row := range withoutPauses(during) {
				took := time.Duration(row.to - row.from).Round(time.Millisecond / 10)
				found = counted(found, checker.Finding{Kind: checker.BusyWait, Resource: w.resource, From: inRun(row.from), To: inRun(row.to),
					FromSeq: w.seq, ToSeq: w.seq, Seqs: []int{w.seq},
					Text: fmt.Sprintf("%s has sent %d requests to %s within %v, while it waits for the lock.", w.client, inARow, server.Name, took)})
			}
		}
	}
	return found, requests
}

// counted are the findings with one more, which is only counted if there is one on the same resource.
func counted(found []checker.Finding, f checker.Finding) []checker.Finding {
	at := slices.IndexFunc(found, func(of checker.Finding) bool { return of.Resource == f.Resource })
	if at < 0 {
		at, found = len(found), append(found, f)
	}
	found[at].Count++
	return found
}

// inARow requests to a node are too many without pauses.
const inARow = rules.RequestsInARow + 1

// row is the first and the last of inARow requests.
type row struct{ from, to int64 }

// withoutPauses finds the rows, none of which overlap, that took less time than the shortest pauses between the requests.
func withoutPauses(at []int64) (rows []row) {
	for len(at) >= inARow {
		r := row{at[0], at[inARow-1]}
		if r.to-r.from < (inARow-1)*int64(rules.LeastPause) {
			rows, at = append(rows, r), at[inARow:]
		} else {
			at = at[1:]
		}
	}
	return rows
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
