package scenarios

import (
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
)

// The catalogue has every wrong argument, with every kind of call that has that argument.
func TestEveryWrongArgumentIsTried(t *testing.T) {
	type call struct {
		kind     StepKind
		ofPermit bool
		argument protocols.Argument
	}
	tried := map[call]bool{}
	var all []protocols.Misuse
	for _, s := range Catalogue() {
		for _, item := range s.Timeline {
			for i := range item.Do {
				if step := &item.Do[i]; step.Misuse != "" {
					all = append(all, step.Misuse)
					tried[call{step.Kind, s.semaphore(&item, step) != "", step.Misuse.Of()}] = true
				}
			}
		}
	}
	for _, m := range protocols.Misuses() {
		if !slices.Contains(all, m) {
			t.Errorf("no scenario has %s", m)
		}
	}
	for _, k := range stepKinds {
		for _, ofPermit := range []bool{false, true} {
			if takes := (&Step{Kind: k.kind}).takes(); ofPermit && !takes || !ofPermit && k.kind == WithAllStep {
				continue
			}
			for _, a := range k.kind.arguments(ofPermit) {
				if !tried[call{k.kind, ofPermit, a}] {
					t.Errorf("no scenario has %s with a wrong argument %d (of a permit: %t)", k.kind, a, ofPermit)
				}
			}
		}
	}
}

func TestMisuseIsChecked(t *testing.T) {
	const file = `
title: t
source: s
explanation: e
claim: holds
LOCK
clients: [client-1]
timeline: [{at: 0s, client: client-1, do: [try-lock, STEP]}]
expect: {findings: safe, unavailable: {at-most: 1s}}
`
	for _, c := range []struct{ lock, step, want string }{
		{"", "extend: {misuse: ttl-zero}", ""},
		{"", "try-lock: {misuse: names-none}", ""},
		{"", "unlock: {misuse: ttl-zero}", "is not about an argument of unlock"},
		{"", "new-client: {misuse: nil-context}", "is not about an argument of new-client"},
		{"", "extend: {misuse: ttl-zer}", "ttl-zero"},
		{"", "hold: {misuse: ttl-zero}", "hold takes no such key"},
		{"", "extend: {misuse: ttl-above-guard}", "is nothing that the lock refuses: it has no restart guard"},
		{"", "lock: {misuse: name-of-the-guard}", "is nothing that the lock refuses"},
		{"lock: {drift: {constant: 0s}}", "lock: {misuse: ttl-within-drift}", "is nothing that the lock refuses"},
		{"", "extend: {misuse: ttl-zero, within: 1s}", "with a misuse has only that"},
		{"lock: {protocol: redlock-plain}", "try-lock: {misuse: ttl-zero}", "protocol redlock-plain does not refuse wrong arguments"},
	} {
		_, err := Parse("f", []byte(strings.NewReplacer("LOCK", c.lock, "STEP", "{"+c.step+"}").Replace(file)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.step, err, c.want)
		}
	}
}

// A call with a wrong argument is about what it would have taken, or about the lock that it is made of.
func TestARefusedCallIsAboutItsResource(t *testing.T) {
	s := parsed(t, `
resources: [one, two]
clients: [client-1]
timeline:
  - at: 0s
    client: client-1
    do:
      - try-lock: {resource: two, misuse: ttl-zero}
      - lock: {resource: [two, one], misuse: ttl-zero}
      - try-lock: {resource: two}
      - extend: {misuse: ttl-zero}
      - prepare: {misuse: nil-context}
      - unlock
expect: {findings: safe, unavailable: {at-most: 1s}}
`)
	out, err := Run(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var about []string
	for _, e := range out.History {
		if e.Name == faults.Refused {
			about = append(about, e.Resource)
		}
	}
	if want := []string{"two", "two, one", "two", "one"}; !slices.Equal(about, want) {
		t.Errorf("about %q, want %q", about, want)
	}
}

// A wrong argument that is not refused is told of, and what was taken with it is given back: the next call can have it again.
func TestAWrongArgumentThatIsAccepted(t *testing.T) {
	s := Default()
	s.Clients, s.Duration = []string{"client-1"}, time.Second
	// A lock without fencing and restart guard has no name for itself.
	step := Step{Kind: TryLockStep, Calling: Calling{Misuse: "name-of-the-guard"}}
	s.Timeline = []Item{{Client: "client-1", Do: []Step{step, step}}}
	out, err := Run(&s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range out.History {
		names = append(names, e.Name)
	}
	if want := []string{faults.Accepted, faults.Accepted}; !slices.Equal(names, want) {
		t.Errorf("the events are %q, want %q", names, want)
	}
}

// The same of calls for permits.
func TestAWrongArgumentThatASemaphoreAccepts(t *testing.T) {
	s := Default()
	s.Clients, s.Duration = []string{"client-1"}, 2*time.Second
	s.Resources, s.Semaphores = []string{"pool/1", "pool/all"}, []string{"pool"}
	var do []Step
	for _, kind := range []StepKind{TryLockStep, LockStep, WithLockStep, WithAllStep, TryLockStep} {
		do = append(do, Step{Kind: kind, Calling: Calling{Misuse: "name-of-the-guard"}}) // as the name of the semaphore
	}
	s.Timeline = []Item{{Client: "client-1", Resource: []string{"pool"}, Do: do}}
	out, err := Run(&s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for _, e := range out.History {
		if e.Name == faults.Accepted {
			accepted++
		}
	}
	if accepted != len(do) {
		t.Errorf("%d of %d calls are accepted: %v", accepted, len(do), out.History)
	}
}

// A call that is refused takes nothing that could be released.
func TestAWrongArgumentTakesNothing(t *testing.T) {
	const file = `
title: t
source: s
explanation: e
claim: holds
clients: [client-1]
timeline: [{at: 0s, client: client-1, do: [try-lock: {misuse: ttl-zero}, unlock]}]
expect: {findings: safe, unavailable: {at-most: 1s}}
`
	if _, err := Parse("f", []byte(file)); err == nil || !strings.Contains(err.Error(), "unlock") {
		t.Error(err)
	}
}
