package why

import (
	"fmt"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/plural"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// Rule is a rule of the checker, and why it does or does not hold in the run.
type Rule struct {
	Kind checker.Kind
	// Finding is where it is broken; nil if it holds.
	Finding *checker.Finding
	// Why is one sentence.
	Why string
}

// rules lists the rules of the checker.
func rules(r *verdict.Result) ([]Rule, error) {
	windows, err := checker.Windows(r.History, r.Scenario.CheckOptions())
	if err != nil {
		return nil, fmt.Errorf("why: %w", err)
	}
	of := r.Report.Compared
	protected := judged(of.Watched["protected"], "a client held the lock %s, and the nodes would never have granted it to another meanwhile", "time",
		"nobody was granted the lock, or nobody looked at the nodes")
	if _, votes := r.Scenario.Lock.Votes(len(r.Scenario.Nodes.Names)); !votes {
		protected = "nodes do not vote for this lock"
	}
	all := []Rule{
		{Kind: checker.LeaseOverlap, Why: judged(len(windows), "the lock was held %s, and never by two at once", "time", "nobody was granted the lock")},
		{Kind: checker.StaleWrite, Why: written(r.History, "none of them after an effect of a later lock")},
		{Kind: checker.AcceptedAfterExpiry, Why: written(r.History, "each while its lock lasted, or after an effect of a later one")},
		{Kind: checker.LostUpdate, Why: readBack(r.History)},
		{Kind: checker.TokenRegressed, Why: tokens(r.History, "each above those before")},
		{Kind: checker.TokenRepeated, Why: tokens(r.History, "no two the same")},
		{Kind: checker.Conduct, Why: judged(of.Watched["commands"], "of %s none changed another's key, came after its deadline, renewed what was being released, "+
			"or left out a node that had a vote", "command", "nobody sent a command for the lock, or nobody looked")},
		{Kind: checker.Contract, Why: judged(of.Watched["returned-calls"], "what %s about leases returned is what the nodes bear out", "call",
			"no call returned anything about a lease that rests on votes")},
		{Kind: checker.Refinement, Why: judged(of.Watched["specified-steps"], "the library took %s, and the specification allows each", "step",
			"the specification followed no step: it is of the library's lock")},
		{Kind: checker.Unprotected, Why: protected},
		{Kind: checker.Leftover, Why: judged(of.Watched["let-go"], "%s of clients that had let go were gone soon, or out of their reach", "vote",
			"no client let go of a lock long before the end, or nobody looked")},
		{Kind: checker.NeedlesslyUnavailable, Why: judged(of.Watched["in-the-clear"], "%s at clients that asked while nothing was in the way found none that had "+
			"asked for longer than this lock may take", "look",
			"nobody asked in vain while nothing was in the way, or it is not known how long this lock may take")},
		{Kind: checker.BusyWait, Why: judged(of.Watched["pauses"], "%s of clients that waited for the lock came with pauses between them", "request",
			"nobody waited for the lock, or nobody looked")},
		{Kind: checker.HolderRefused, Why: judged(of.Rightful, "the resource accepted %s of clients that held the lock and had a token or mark", "request",
			"no request of a client that held the lock carried a token or mark, or the resource had accepted one of a later holder")},
	}
	for i := range all {
		for j := range r.Report.Findings {
			if f := &r.Report.Findings[j]; f.Kind == all[i].Kind {
				all[i].Finding, all[i].Why = f, strings.TrimSpace(f.Text+" "+matters[f.Kind])
				break
			}
		}
	}
	return all, nil
}

// matters is why a finding that needs no collision is a defect all the same.
var matters = map[checker.Kind]string{
	checker.Conduct: "The nodes carry out whatever they are sent: with other delays, what is sent here takes away another's lock, or leaves " +
		"a key behind that keeps everybody out.",
	checker.Contract: "The caller goes by what the call returned. That nobody suffered from it in this run is luck: it takes one more client " +
		"that asks while the answer is wrong.",
	checker.Refinement: "The guarantees are those of the specification's steps, so that they say nothing of what follows from this one.",
	checker.Unprotected: "The run was made again up to then with one more client, and that was granted the lock: two clients would have " +
		"had it.",
	checker.Leftover: "Client and node were up, and every message between them was answered in time. Until the key runs out, this node " +
		"votes for nobody else.",
	checker.NeedlesslyUnavailable: "No fault, no other holder and no leftover key explains it, so that the lock itself keeps its clients out.",
	checker.HolderRefused:         "The client has the lock and cannot do its work: the resource, or the tokens, are not right for each other.",
	checker.BusyWait:              "Every client that waits keeps the nodes as busy as the network allows, for as long as somebody else has the lock.",
}

// judged is why a rule of a monitor holds that has looked at n things of a name: none was wrong, or there was none.
func judged(n int, none, thing, nothing string) string {
	if n == 0 {
		return nothing
	}
	return fmt.Sprintf(none, plural.Count(n, thing))
}

// written says how many writes there were, and of those that were taken what is right about them.
func written(h history.History, right string) string {
	taken := number(h, func(e *history.Event) bool { return isWrite(e) && e.Outcome == history.OK })
	refused := number(h, func(e *history.Event) bool { return isWrite(e) && e.Outcome != history.OK })
	switch {
	case taken+refused == 0:
		return "nobody wrote to the resource"
	case taken == 0:
		return fmt.Sprintf("the resource rejected all %d writes", refused)
	case refused > 0:
		right += fmt.Sprintf("; it rejected %d", refused)
	}
	return fmt.Sprintf("the resource accepted %d writes, %s", taken, right)
}

func readBack(h history.History) string {
	if number(h, func(e *history.Event) bool {
		return e.Kind == history.Effect && e.Func == history.Read && e.Outcome == history.OK
	}) == 0 {
		return "nobody read the resource to write it back"
	}
	return written(h, "none over another number than had been read")
}

func tokens(h history.History, right string) string {
	n := number(h, func(e *history.Event) bool { return e.Kind == history.Return && e.Token != 0 })
	if n == 0 {
		return "no tokens were drawn"
	}
	return fmt.Sprintf("%d tokens were drawn, %s", n, right)
}
