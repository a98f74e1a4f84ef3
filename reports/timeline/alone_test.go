package timeline

import (
	"regexp"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

var votes = regexp.MustCompile(`\b[01] of 1\b|quorum|vote`)

// A lock on one Redis has no votes to be counted: it is granted or not, and the server that grants it is named.
func TestALockOnOneRedisHasNoVotes(t *testing.T) {
	compared := 0
	each(t, func(t *testing.T, r *verdict.Result, line *Timeline) {
		if len(r.Scenario.Nodes.Names) != 1 || r.Scenario.Lock.Capabilities().Service != "" {
			return
		}
		compared++
		var texts []string
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
}

// That goes for somebody's lock on one of several nodes, too.
func TestSomebodysLockOnOneOfSeveral(t *testing.T) {
	single := func(env protocols.Env) (protocols.Locker, error) {
		p, _ := protocols.Find("single")
		env.Settings = scenariotest.Named(t, "05-single-instance/healthy").Lock
		return p.New(env)
	}
	r := scenariotest.Judged(t, scenariotest.Named(t, "17-clock-jump"), scenarios.Options{Foreign: &scenarios.Foreign{OneNode: true, New: single}})
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
