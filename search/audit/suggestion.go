package audit

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search/attacks"
	"redlocksim/search/sweep"
)

// Suggestion is the smallest safe settings of the library for what was answered.
type Suggestion struct {
	// Settings are the lock's, the nodes', the network's and the budget that they are for.
	Settings *scenarios.Scenario `json:"-"`
	// RestartDelay is how long a node that lost its memory stays away, in true time.
	RestartDelay time.Duration `json:"restart_delay_ns"`
	// Values are the settings one by one, with what the simulator says, and Costs what they cost.
	Values []Value `json:"values"`
	Costs  []Cost  `json:"costs"`
	// Beyond and Assumed are as of an audit.
	Beyond  []string `json:"beyond"`
	Assumed []string `json:"assumed"`
	// YAML is the settings as a settings file has them, and Go as options of the library.
	YAML string `json:"yaml"`
	Go   string `json:"go"`
}

// Value is a setting, and both sides of it.
type Value struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Formula string `json:"formula"`
	// Holds and Breaks are neighbours on the axis of Path: the smallest value with which the schedule's attack fails, and
	// the next one, with which it succeeds. Breaks is empty if none does; of nodes that lose their memory, Holds is the
	// largest number.
	Schedule string `json:"schedule"`
	Path     string `json:"path"`
	Holds    string `json:"holds"`
	Breaks   string `json:"breaks"`
	// What the attack broke, at Breaks.
	What attacks.Broken `json:"what,omitempty"`
	Note string         `json:"note,omitempty"`

	lowest, highest string          // between which the neighbours are looked for
	changes         []sweep.Setting // for the attack
	network         bool            // with the network as it is, not with messages that take no time
}

// library is what the settings say of the library alone.
func (g *Suggestion) library() protocols.RedlockSettings {
	return protocols.Of[protocols.RedlockSettings](g.Settings.Lock)
}

// attacked are the settings as an adversary has them.
func (g *Suggestion) attacked() *attacks.Settings {
	return &attacks.Settings{Scenario: g.Settings, Pause: g.Settings.Budget.Pause}
}

// up rounds up to a whole number of units.
func up(d decimal.Decimal, unit time.Duration) time.Duration {
	q, r := d.QuoRem(decimal.NewFromInt(int64(unit)), 0)
	if r.IsPositive() {
		q = q.Add(decimal.NewFromInt(1))
	}
	return time.Duration(q.IntPart()) * unit
}

// part is what a settings file says of a suggestion.
type part struct {
	Lock    protocols.Settings `yaml:"lock"`
	Nodes   scenarios.Nodes    `yaml:"nodes"`
	Network scenarios.Network  `yaml:"network"`
	Budget  faults.Budget      `yaml:"budget"`
}

// write puts the settings into words.
func (g *Suggestion) write() error {
	base := scenarios.Default()
	s := g.Settings
	data, err := strictyaml.Encode(part{s.Lock, s.Nodes, s.Network, s.Budget}, part{base.Lock, base.Nodes, base.Network, base.Budget})
	if err != nil {
		return err
	}
	g.YAML = string(data)
	g.Go = g.options()
	return nil
}

func (g *Suggestion) options() string {
	lock := &g.Settings.Lock
	var b strings.Builder
	b.WriteString("client, err := redlock.New(nodes,\n")
	option := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+"\n", args...) }
	option("redlock.WithQuorum(%d),", g.library().Quorum)
	drift := fmt.Sprintf("Factor: %q", g.library().Drift.Factor)
	if g.library().Drift.Constant > 0 {
		drift += ", Constant: " + inGo(g.library().Drift.Constant)
	}
	option("redlock.WithDrift(redlock.Drift{%s}),", drift)
	option("redlock.WithNodeTimeout(%s),", inGo(lock.NodeTimeout))
	option("redlock.WithRetryDelay(%s, %s),", inGo(g.library().RetryDelay.Min), inGo(g.library().RetryDelay.Max))
	option("redlock.WithLossLead(%s), // at most half of the validity takes effect: check lease.Until() too", inGo(max(lock.GuardTime, time.Millisecond)))
	if g.attacked().Forgetful() {
		option("redlock.WithRestartGuard(redlock.Guard{MaxTTL: %s}), // instead of a restart delay", inGo(lock.TTL))
	}
	fmt.Fprintf(&b, ")\nlease, err := client.Lock(ctx, resource, %s)\n", inGo(lock.TTL))
	return b.String()
}

// inGo is a duration as Go code.
func inGo(d time.Duration) string {
	for _, u := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}, {time.Microsecond, "Microsecond"}} {
		if d != 0 && d%u.length == 0 {
			return fmt.Sprintf("%d*time.%s", d/u.length, u.name)
		}
	}
	return fmt.Sprintf("%d*time.Nanosecond", d)
}

// WriteText writes the suggestion for a reader.
func (g *Suggestion) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString("Settings, each tried at its limit and just below it\n")
	for _, v := range g.Values {
		fmt.Fprintf(&b, "  %-15s %-10s %s\n", v.Setting, v.Value, v.Formula)
		switch {
		case v.Breaks != "":
			fmt.Fprintf(&b, "  %-15s %-10s schedule %s: %s = %s holds, %s does not: %s\n", "", "", v.Schedule, v.Path, v.Holds, v.Breaks, v.What.Says())
		case v.Holds != "":
			fmt.Fprintf(&b, "  %-15s %-10s schedule %s: %s = %s holds\n", "", "", v.Schedule, v.Path, v.Holds)
		}
		if v.Note != "" {
			fmt.Fprintf(&b, "  %-15s %-10s %s\n", "", "", v.Note)
		}
	}
	b.WriteString("\nWhat they cost\n")
	for _, c := range g.Costs {
		ok := "confirmed"
		if !c.Confirmed {
			ok = "NOT CONFIRMED"
		}
		fmt.Fprintf(&b, "  %s: %s\n      simulated: %s (%s)\n", c.What, c.Computed, c.Simulated, ok)
	}
	remarks(&b, g.Beyond, g.Assumed)
	fmt.Fprintf(&b, "\nFor a settings file\n\n%s\nFor the library\n\n%s", g.YAML, g.Go)
	_, err := io.WriteString(w, b.String())
	return err
}
