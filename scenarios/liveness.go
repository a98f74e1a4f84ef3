package scenarios

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/checker"
	"redlocksim/internal/strictyaml"
)

// Bounds are bounds on a duration.
type Bounds struct {
	// AtLeast is the least that it may be. Default: 0s. Example: 1s
	AtLeast time.Duration `yaml:"at-least" range:"0s.."`
	// AtMost is the most that it may be. Example: 50ms
	AtMost time.Duration `yaml:"at-most,required"`
}

// CountBounds are bounds on a number.
type CountBounds struct {
	// AtLeast is the least that it may be. Default: 0. Example: 1
	AtLeast int `yaml:"at-least" range:"0.."`
	// AtMost is the most that it may be. Example: 5
	AtMost int `yaml:"at-most,required"`
}

// Unavailable bounds the time for which the lock cannot be had, or says that nothing bounds it.
type Unavailable struct {
	Bounds
	// Unbounded: it lasts to the end of the run, however long that is. It is verified by a run of twice the duration, in
	// which the same wait must last for longer by just as much.
	Unbounded bool
}

// unbounded is how files say so.
const unbounded = "unbounded"

// UnmarshalNode reads "unbounded" or bounds.
func (u *Unavailable) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	*u = Unavailable{}
	if n.Kind == yaml.MappingNode {
		d.Decode(n, &u.Bounds)
		return
	}
	var word string
	if !d.Decode(n, &word) {
		return
	}
	if u.Unbounded = word == unbounded; !u.Unbounded {
		d.Errorf(n, word, []string{unbounded}, `not bounds, as "{at-most: 2s}", nor the word for none`)
	}
}

// MarshalNode is the counterpart of UnmarshalNode.
func (u Unavailable) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	if u.Unbounded {
		return strictyaml.Text(unbounded)
	}
	return e.Encode(u.Bounds, Bounds{})
}

func (u Unavailable) String() string {
	switch {
	case u.Unbounded:
		return "without bound"
	case u.AtLeast > 0:
		return fmt.Sprintf("%v to %v", u.AtLeast, u.AtMost)
	}
	return fmt.Sprintf("at most %v", u.AtMost)
}

// isTheSubject says that a scenario is about the time for which the lock cannot be had.
func (u Unavailable) isTheSubject() bool { return u.Unbounded || u.AtLeast > 0 }

// liveness looks for bounds that make no sense, and for a healing that comes too late to show anything.
func (c *check) liveness() {
	expect, e := child(c.n, "expect"), &c.s.Expect
	c.bounds(expect, e.all())
	for i := range e.Resources {
		on := &e.Resources[i]
		n := child(child(expect, "resources"), on.Key)
		c.named(child(expect, "resources"), []string{on.Key})
		c.bounds(n, &on.Value)
		if c.s.Heal == nil && on.Value.AfterHealing != nil {
			c.d.Errorf(child(n, "after-healing"), "", nil, `there is no "heal" to count from`)
		}
	}
	heal, node := c.s.Heal, child(c.n, "heal")
	switch {
	case heal == nil && e.AfterHealing != nil:
		c.d.Errorf(child(expect, "after-healing"), "", nil, `there is no "heal" to count from`)
	case heal == nil:
	case *heal <= 0 || *heal >= c.s.Duration:
		c.d.Errorf(node, heal.String(), nil, "must be after the beginning and before the end, at %v", c.s.Duration)
	case e.AfterHealing != nil && c.s.Duration-*heal <= e.AfterHealing.AtMost:
		c.d.Errorf(child(expect, "after-healing"), "", nil, "the run ends %v after the healing: too soon to see that something takes longer than %v", c.s.Duration-*heal, e.AfterHealing.AtMost)
	}
}

// bounds looks for bounds that nothing can keep to. n is where they stand.
func (c *check) bounds(n *yaml.Node, e *ExpectOn) {
	const wrong = "at-most must not be less than at-least"
	for _, span := range []struct {
		key string
		b   *Bounds
	}{{"unavailable", e.Unavailable}, {"takeover", e.Takeover}, {"after-healing", e.AfterHealing}} {
		if b := span.b; b != nil && b.AtMost < b.AtLeast {
			c.d.Errorf(child(n, span.key), "", nil, wrong)
		}
	}
	for _, count := range []struct {
		key string
		b   *CountBounds
	}{{"attempts", e.Attempts}, {"bypass", e.Bypass}, {"overtakes", e.Overtakes}} {
		if b := count.b; b != nil && b.AtMost < b.AtLeast {
			c.d.Errorf(child(n, count.key), "", nil, wrong)
		}
	}
}

// all is what is expected of all resources together, as of one. Without a bound nothing is said of the unavailability.
func (e *Expect) all() *ExpectOn {
	on := &ExpectOn{Findings: e.Findings, Waits: e.Waits}
	if !e.Unavailable.Unbounded {
		on.Unavailable = &e.Unavailable.Bounds
	}
	return on
}

// beforeHealing refuses a fault that is placed when the faults are healed.
func (c *check) beforeHealing(i *Item) {
	if heal := c.s.Heal; heal != nil && i.When.After == nil && i.When.At >= *heal {
		c.d.Errorf(child(i.node, "at"), i.When.At.String(), nil, "all faults are healed at %v, and none is injected from then on", *heal)
	}
}

// Measured is the worst that was measured on any of the resources; what was measured, if there is one.
func (r *Result) Measured() checker.Resource { return worst(r.Report.Resources) }

// measuredOn is what was measured on a resource.
func (r *Result) measuredOn(resource string) checker.Resource {
	for _, m := range r.Report.Resources {
		if m.Name == resource {
			return m
		}
	}
	return checker.Resource{Name: resource}
}

// worst is the worst of each that was measured; of equals, on the first resource.
func worst(all []checker.Resource) checker.Resource {
	if len(all) == 0 {
		return checker.Resource{}
	}
	w := all[0]
	more := func(c *checker.Count, than checker.Count) {
		if than.Number > c.Number {
			*c = than
		}
	}
	for _, m := range all[1:] {
		if m.Unavailable.For > w.Unavailable.For {
			w.Unavailable = m.Unavailable
		}
		if m.Takeover.Process != "" && (w.Takeover.Process == "" || m.Takeover.For > w.Takeover.For) {
			w.Takeover = m.Takeover
		}
		if m.AfterHealing.Process != "" && (w.AfterHealing.Process == "" || m.AfterHealing.For() > w.AfterHealing.For()) {
			w.AfterHealing = m.AfterHealing
		}
		more(&w.Attempts, m.Attempts)
		more(&w.Bypass, m.Bypass)
		more(&w.Overtakes, m.Overtakes)
		w.Fairness = min(w.Fairness, m.Fairness)
		w.Grants, w.Clients = w.Grants+m.Grants, max(w.Clients, m.Clients)
	}
	return w
}

// judgeLiveness compares what clients had to wait for with what is expected, of all resources and of some.
func (r *Result) judgeLiveness(problem func(c Class, format string, args ...any)) {
	r.Scenario.Expect.all().judge(r.Measured(), problem)
	for _, on := range r.Scenario.Expect.Resources {
		on.Value.judge(r.measuredOn(on.Key), func(c Class, format string, args ...any) {
			problem(c, "on "+strings.ReplaceAll(on.Key, "%", "%%")+", "+format, args...)
		})
	}
}

// judge compares what was measured with what is expected. A bound on something that did not come to pass is not kept: the
// run shows nothing about it.
func (e *ExpectOn) judge(m checker.Resource, problem func(c Class, format string, args ...any)) {
	if u, t := e.Unavailable, m.Unavailable.For; u != nil && (t > u.AtMost || t < u.AtLeast) {
		problem(Liveness, "the lock could not be had for %v, expected from %v to %v", t, u.AtLeast, u.AtMost)
	}
	if b, t := e.Takeover, m.Takeover; b != nil {
		switch {
		case t.Process == "":
			problem(Liveness, "no holder was gone while somebody else asked, expected a takeover")
		case t.For < b.AtLeast || t.For > b.AtMost:
			problem(Liveness, "%v for the lock of %s to be taken over%s, expected from %v to %v", t.For, t.Process, inVain(t.By != ""), b.AtLeast, b.AtMost)
		}
	}
	count := func(b *CountBounds, c checker.Count, text string) {
		if b != nil && (c.Number < b.AtLeast || c.Number > b.AtMost) {
			who := c.Wait.Process
			if who == "" {
				who = "no client"
			}
			problem(Liveness, text+", expected from %d to %d", who, c.Number, c.Wait.For(), b.AtLeast, b.AtMost)
		}
	}
	count(e.Attempts, m.Attempts, "%s made %d attempts in one wait of %v")
	count(e.Bypass, m.Bypass, "%s saw %d grants to others go by in one wait of %v")
	count(e.Overtakes, m.Overtakes, "%s was overtaken %d times in one wait of %v")
	if b, w := e.AfterHealing, m.AfterHealing; b != nil {
		switch {
		case w.Process == "":
			problem(Liveness, "nobody asked for the lock after the faults were healed, expected somebody to be granted it")
		case w.For() < b.AtLeast || w.For() > b.AtMost:
			problem(Liveness, "%s waited for %v after the faults were healed%s, expected from %v to %v", w.Process, w.For(), inVain(w.Granted), b.AtLeast, b.AtMost)
		}
	}
}

// inVain says of a wait that it was not ended by a grant.
func inVain(granted bool) string {
	if granted {
		return ""
	}
	return ", in vain"
}

// verifyUnbounded runs the scenario for twice its duration. The time for which the lock cannot be had is without bound if
// it lasts to the end in both runs, from the same moment on.
func (r *Result) verifyUnbounded(problem func(c Class, format string, args ...any)) error {
	twice := *r.Scenario
	twice.Duration *= 2
	out, err := Run(&twice, Options{Tier: r.Tier, Seed: r.Seed, Foreign: r.foreign})
	if err != nil {
		return err
	}
	report, err := twice.check(out)
	if err != nil {
		return fmt.Errorf("scenarios: %s, tier %s, seed %d, twice as long: %w", twice.Name, r.Tier, r.Seed, err)
	}
	short, long := r.Measured().Unavailable, (&Result{Report: report}).Measured().Unavailable
	r.Unbounded = short.For > 0 && short.ToSeq == 0 && long.ToSeq == 0 && long.FromSeq == short.FromSeq && long.For-short.For == r.Scenario.Duration
	if !r.Unbounded {
		problem(Liveness, "the lock could not be had for %v in a run of %v and for %v in one of %v, expected it to be unbounded: the second longer by as much as the run",
			short.For, r.Scenario.Duration, long.For, twice.Duration)
	}
	return nil
}
