package why

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/checker/rules"
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

// rulesOf lists the rules of the checker.
func rulesOf(r *verdict.Result) ([]Rule, error) {
	windows, err := checker.Windows(r.History, r.Scenario.CheckOptions())
	if err != nil {
		return nil, fmt.Errorf("why: %w", err)
	}
	of := r.Report.Compared
	all := []Rule{
		{Kind: checker.LeaseOverlap, Why: judged(len(windows), "the lock was held %s, and never by two at once", "time", "nobody was granted the lock")},
		{Kind: checker.StaleWrite, Why: written(r.History, "none of them after an effect of a later lock")},
		{Kind: checker.AcceptedAfterExpiry, Why: written(r.History, "each while its lock lasted, or after an effect of a later one")},
		{Kind: checker.LostUpdate, Why: readBack(r.History)},
		{Kind: checker.TokenRegressed, Why: tokens(r.History, "each above those before")},
		{Kind: checker.TokenRepeated, Why: tokens(r.History, "no two the same")},
	}
	all = append(all, watched(r)...)
	all = append(all, Rule{Kind: checker.HolderRefused, Why: judged(of.Rightful, "the resource accepted %s of clients that held the lock and had a token, version or mark", "request",
		"no request of a client that held the lock carried a token, version or mark, or the resource had accepted one of a later holder")})
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
	checker.HolderRefused: "The client has the lock and cannot do its work: the resource and the tokens are not right for each other, " +
		"or a late write has changed the version that the client had read.",
	checker.BusyWait: "Every client that waits keeps the nodes as busy as the network allows, for as long as somebody else has the lock.",
}

// watched lists the kinds of what package rules finds, each with what its rules say where they hold.
func watched(r *verdict.Result) (all []Rule) {
	_, votes := r.Scenario.Lock.Votes(len(r.Scenario.Nodes.Names))
	idle := map[checker.Kind]bool{}
	for _, rule := range rules.Table {
		if rule.Holds == "" {
			continue
		}
		i := slices.IndexFunc(all, func(other Rule) bool { return other.Kind == rule.Kind })
		n := r.Report.Compared.Watched[rule.Name]
		why := judged(n, rule.Holds, rule.Each, rule.Idle)
		if rule.Kind == checker.Unprotected && !votes {
			why = "nodes do not vote for this lock"
		}
		switch {
		case i < 0:
			all, idle[rule.Kind] = append(all, Rule{Kind: rule.Kind, Why: why}), n == 0
		case idle[rule.Kind] && n > 0:
			all[i].Why, idle[rule.Kind] = why, false
		case n > 0:
			all[i].Why += "; " + why
		}
	}
	return all
}

// judged is why a rule holds that has looked at n things of a name: none was wrong, or there was none.
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
