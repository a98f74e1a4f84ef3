package attacks_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/attacks"
	"redlocksim/sim/history"
)

func settings(t *testing.T, text string) *attacks.Settings {
	t.Helper()
	s, err := scenarios.ParseSettings("settings", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &attacks.Settings{Scenario: s, Pause: s.Budget.Pause}
}

// Every attack is made on the first of several resources and, with a lock that can, on all of them as one lock, of which the
// second client wants the last. It comes to the same as on a lock of its own.
func TestAttacksOnSeveralResources(t *testing.T) {
	for _, x := range []struct{ attack, breaks, holds string }{
		{"clocks", "lock: {drift: {factor: 0%, constant: 0s}}\nbudget: {clock-rate: 5%}", "lock: {drift: {factor: 10%}}\nbudget: {clock-rate: 5%}"},
		{"restart", "nodes: {persistence: none}\nbudget: {restart-delay: 9s}", "nodes: {persistence: none}\nbudget: {restart-delay: 10s}"},
		{"restart", "nodes: {persistence: snapshots}\nbudget: {restart-delay: 9s, no-power-loss: true}", "nodes: {persistence: snapshots}\nbudget: {restart-delay: 10s}"},
		{"memory-loss", "nodes: {persistence: none}\nbudget: {memory-loss: 1}", "nodes: {persistence: none}\nlock: {quorum: 4}\nbudget: {memory-loss: 1}"},
		{"split", "lock: {protocol: redlock-plain, quorum: 2}", "lock: {quorum: 3}"},
		{"pause", "budget: {pause: 4s}\nlock: {guard-time: 1s}", "budget: {pause: 4s}\nlock: {guard-time: 5s}"},
	} {
		found, _ := attacks.Find(x.attack)
		for text, broken := range map[string]bool{x.breaks: true, x.holds: false} {
			for _, resources := range []string{"[R]", "[a, b, c]"} {
				s := settings(t, text+"\nresources: "+resources+"\n")
				for _, joint := range []bool{false, true} {
					if joint && !s.CanJoin() {
						continue
					}
					s.Joint = joint
					out, err := found[0].Run(s, scenarios.Options{})
					if err != nil {
						t.Fatal(err)
					}
					if got := out.Broken != ""; got != broken || out.NotTested != "" {
						t.Errorf("%s, %s, %s, joint %t: broken %q, not tested %q", x.attack, text, resources, joint, out.Broken, out.NotTested)
					}
					want := "c"
					if !joint {
						want = s.Resources[0]
					}
					if f := out.Result.Witness(); broken && f.Resource != want {
						t.Errorf("%s, %s, joint %t: it is %s that breaks, want %s", x.attack, resources, joint, f.Resource, want)
					}
				}
				s.Joint = false
				if out, err := found[0].Run(s, scenarios.Options{}); err != nil || !broken && s.CanJoin() != slices.ContainsFunc(out.Runs, locksBoth) {
					t.Errorf("%s, %s, %s: %v, all as one lock %t", x.attack, text, resources, err, s.CanJoin())
				}
			}
		}
	}
}

// first takes a lock on several resources for one on the first of them.
type first struct{ protocols.Locker }

func (f first) LockAll(ctx context.Context, resources []string, ttl time.Duration) (protocols.Lease, error) {
	return f.Lock(ctx, resources[0], ttl)
}

func (f first) TryLockAll(ctx context.Context, resources []string, ttl time.Duration) (protocols.Lease, error) {
	return f.TryLock(ctx, resources[0], ttl)
}

// What only a lock on several resources gets wrong is found, and told as that.
func TestBrokenOnSeveralResourcesOnly(t *testing.T) {
	o := scenarios.Options{Foreign: &scenarios.Foreign{New: func(env protocols.Env) (protocols.Locker, error) {
		p, _ := protocols.Find("redlock")
		locker, err := p.New(env)
		return first{locker}, err
	}}}
	found, _ := attacks.Find("clocks")
	for resources, want := range map[string]attacks.Broken{"[a]": "", "[a, b]": "lease-overlap, of all resources as one lock"} {
		out, err := found[0].Run(settings(t, "resources: "+resources), o)
		if err != nil || out.Broken != want {
			t.Errorf("%s: broken %q, %v, want %q", resources, out.Broken, err, want)
		}
	}
}

// locksBoth says whether the holder was granted all resources at once.
func locksBoth(r *verdict.Result) bool {
	return slices.ContainsFunc(r.History, func(e history.Event) bool {
		return e.Kind == history.Step && e.Name == "granted" && strings.Contains(e.Resource, ", ")
	})
}

func TestWhatIsBrokenInWords(t *testing.T) {
	for broken, want := range map[attacks.Broken]string{
		"": "holds", "not granted": "not granted", "lease-overlap, stale-write": "two holders (lease-overlap), late write (stale-write)",
		"lease-overlap, of all resources as one lock": "two holders (lease-overlap), of all resources as one lock",
	} {
		if got := broken.Says(); got != want {
			t.Errorf("%q: %q, want %q", broken, got, want)
		}
	}
}
