package timeline

import (
	"regexp"
	"slices"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

var votes = regexp.MustCompile(`\b[01] of 1\b|quorum|vote`)

// A lock on one Redis has no votes to be counted: it is granted or not, and the server that grants it is named.
func TestALockOnOneRedisHasNoVotes(t *testing.T) {
	compared := 0
	each(t, func(t *testing.T, r *scenarios.Result, line *Timeline) {
		if len(r.Scenario.Nodes.Names) != 1 || r.Scenario.Lock.Capabilities().Service != "" {
			return
		}
		compared++
		texts := slices.Clone(line.Explanation)
		for _, sign := range legend(line) {
			texts = append(texts, sign.text)
		}
		for _, l := range line.Lanes {
			for _, s := range l.all(votesSpan) {
				texts = append(texts, s.Label, s.Short, s.Text)
			}
		}
		for _, text := range texts {
			if votes.MatchString(text) {
				t.Errorf("it says %q", text)
			}
		}
	})
	if compared < 20 {
		t.Errorf("only %d scenarios have one node", compared)
	}
	_, line := drawn(t, "07-failover-with-wait/other-replica")
	want := []string{
		"client-1 gets the lock at 12.4ms, and believes in it until 8.03s.",
		"At 12.4ms M loses power; the key on M is gone, and client-1 still believes in its lock.",
		"client-2 gets the lock at 3.53s, and believes in it until 10.54s; M3 grants it in the place of M.",
		"From 3.53s to 8.03s each of them believes that nobody else has the lock.",
	}
	if !slices.Equal(line.Explanation, want) {
		t.Errorf("%q, want %q", line.Explanation, want)
	}
}

// That goes for somebody's lock on one of several nodes, too.
func TestSomebodysLockOnOneOfSeveral(t *testing.T) {
	single := func(env protocols.Env) (protocols.Locker, error) {
		p, _ := protocols.Find("single")
		env.Settings = scenario(t, "05-single-instance/healthy").Lock
		return p.New(env)
	}
	r := judged(t, scenario(t, "17-clock-jump"), scenarios.Options{Record: true, Foreign: &scenarios.Foreign{OneNode: true, New: single}})
	line := timelineOf(t, r)
	granted := line.lane("client-1").all(votesSpan)
	if len(granted) == 0 {
		t.Fatal("nothing is granted")
	}
	for _, s := range granted {
		if !s.Quorum || s.Label != "granted" {
			t.Errorf("%+v", s)
		}
	}
}
