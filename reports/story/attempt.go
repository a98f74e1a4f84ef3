package story

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/rounded"
	"redlocksim/redlock/driver"
	"redlocksim/sim/history"
)

// attempt is what the nodes have answered in the round under way.
type attempt struct {
	number   int64
	answers  []answer
	validity time.Duration
	token    int64           // of the request that the storage has looked at
	told     map[string]bool // kinds of failure that have been told, also of the attempts before
	again    bool            // it fails as the one before did, and is not told
}

type answer struct{ node, outcome string }

// failure says whether an attempt's failure is to be told: the first one of each kind is. However often a client tries
// again, the reader learns only what is new.
func (a *attempt) failure() bool {
	if a.again {
		return false
	}
	var outcomes []string
	for _, x := range a.answers {
		if x.outcome != driver.Accepted.Of(driver.OpAcquire) {
			outcomes = append(outcomes, x.outcome)
		}
	}
	slices.Sort(outcomes)
	kind := fmt.Sprint(slices.Compact(outcomes), a.validity < 0)
	if a.told[kind] {
		return false
	}
	if a.told == nil {
		a.told = map[string]bool{}
	}
	a.told[kind] = true
	return true
}

// ordinal says which attempt it is, if it is not the first.
func (a *attempt) ordinal() string {
	if a.number > 1 {
		return fmt.Sprintf("attempt %d", a.number)
	}
	return ""
}

// at is ordinal within a sentence.
func (a *attempt) at() string {
	if o := a.ordinal(); o != "" {
		return " on " + o
	}
	return ""
}

// cleanedUp tells of a failed attempt by what the client did about its votes.
func (a *attempt) cleanedUp(e *history.Event, refused, on string) string {
	switch {
	case !a.failure():
		return ""
	case a.validity < 0:
		return fmt.Sprintf("%s reads its clock again%s, finds no validity left%s (%v) and %s", e.Process, a.at(), on, rounded.Duration(a.validity), e.Detail)
	}
	return fmt.Sprintf("%s%s%s (%s) and %s", refused, on, a.at(), a.describe(), e.Detail)
}

// nodes lists the nodes with an outcome.
func (a *attempt) nodes(outcome string) string {
	var names []string
	for _, x := range a.answers {
		if x.outcome == outcome {
			names = append(names, x.node)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names) // a node is asked twice where the token is too low at first
	return strings.Join(names, ", ")
}

// others lists the nodes with any other outcome, by outcome.
func (a *attempt) others(outcome string) string {
	var parts []string
	seen := map[string]bool{outcome: true}
	for _, x := range a.answers {
		if !seen[x.outcome] {
			seen[x.outcome] = true
			parts = append(parts, a.nodes(x.outcome)+" "+x.outcome)
		}
	}
	return strings.Join(parts, "; ")
}

func (a *attempt) describe() string {
	if text := a.others(""); text != "" {
		return text
	}
	return "no node answered"
}
