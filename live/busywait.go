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

// phase is a time of a run, up to the client's next one, in which its calls about locks that are open are the same.
type phase struct {
	from int64
	call *history.Event // for a lock, if it is the only one; else nil
}

// busyWaits finds where a lock program asked again and again without pauses while it waited for a lock and did nothing else,
// of those on a resource the first, and counts the requests that were looked at. The rule of the simulator sees each pause.
// Here some are the machine's, so that the requests to a node are compared with how many there can be with the shortest pauses.
func (r *run) busyWaits(h history.History) (found []checker.Finding, requests int) {
	if r.options.Lock == nil || len(h) == 0 {
		return nil, 0
	}
	inRun := func(at int64) checker.Instant { return checker.Instant((at - r.start) * r.speed) }
	all := phases(h)
	for _, client := range r.scenario.Clients {
		its := append(all[client], phase{from: h[len(h)-1].Time})
		for i, p := range its {
			if p.call == nil {
				continue
			}
			for _, server := range r.servers {
				during := r.linkOf(client, server.Name).Up.Came(r.start+p.from/r.speed, r.start+its[i+1].from/r.speed)
				requests += len(during)
				for _, row := range withoutPauses(during) {
					took := time.Duration(row.to - row.from).Round(time.Millisecond / 10)
					found = counted(found, checker.Finding{Kind: checker.BusyWait, Resource: p.call.Resource, From: inRun(row.from),
						To: inRun(row.to), FromSeq: p.call.Seq, ToSeq: p.call.Seq, Seqs: []int{p.call.Seq},
						Text: fmt.Sprintf("%s has sent %d requests to %s within %v, while it waits for the lock.", client, inARow, server.Name, took)})
				}
			}
		}
	}
	return found, requests
}

// phases are those of a history by client. One call for several resources counts as that for the first.
func phases(h history.History) map[string][]phase {
	all, open := map[string][]phase{}, map[string][]*history.Event{}
	for i := range h {
		e := &h[i]
		its := open[e.Process]
		isAboutLocks := e.Func == history.Acquire || e.Func == history.Extend || e.Func == history.Release
		switch isFirst := e.With == 0 || e.With == e.Op; {
		case e.Kind == history.Crash:
			its = nil
		case e.Kind == history.Call && isAboutLocks && isFirst:
			its = append(its, e)
		case e.Kind == history.Return:
			its = slices.DeleteFunc(its, func(c *history.Event) bool { return c.Op == e.Op })
		default:
			continue
		}
		open[e.Process] = its
		p := phase{from: e.Time}
		if len(its) == 1 && its[0].Func == history.Acquire {
			p.call = its[0]
		}
		all[e.Process] = append(all[e.Process], p)
	}
	return all
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
