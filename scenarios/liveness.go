package scenarios

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

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

// IsTheSubject says that a scenario is about the time for which the lock cannot be had.
func (u Unavailable) IsTheSubject() bool { return u.Unbounded || u.AtLeast > 0 }

// liveness looks for bounds that make no sense, and for a healing that comes too late to show anything.
func (c *check) liveness() {
	expect, e := child(c.n, "expect"), &c.s.Expect
	c.bounds(expect, e.All())
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

// All is what is expected of all resources together, as of one. Without a bound nothing is said of the unavailability.
func (e *Expect) All() *ExpectOn {
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
