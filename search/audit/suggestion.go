package audit

import (
	"fmt"
	"io"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/internal/wordwrap"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search/attacks"
)

// Suggestion is the smallest safe settings of the library for what was answered.
type Suggestion struct {
	// Settings are the lock's, the nodes', the network's and the budget that they are for.
	Settings *scenarios.Scenario `json:"-"`
	// RestartDelay is how long a node that lost its memory stays away, in true time.
	RestartDelay time.Duration `json:"restart_delay_ns"`
	// Values are the settings one by one.
	Values []Value `json:"values"`
	// Audit is what the simulator says of them.
	*Audit
	// YAML is the settings as a settings file has them, and Go as options of the library.
	YAML string `json:"yaml"`
	Go   string `json:"go"`
}

// Value is a setting, and what it comes of.
type Value struct {
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Formula string `json:"formula"`
	Note    string `json:"note,omitempty"`
}

// library is what the settings say of the library alone.
func (g *Suggestion) library() protocols.RedlockSettings {
	return protocols.Of[protocols.RedlockSettings](g.Settings.Lock)
}

// attacked are the settings as attacks have them.
func (g *Suggestion) attacked() *attacks.Settings {
	return &attacks.Settings{Scenario: g.Settings, Pause: g.Settings.Budget.Pause}
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
	base, s := scenarios.Default(), g.Settings
	data, err := strictyaml.Encode(part{s.Lock, s.Nodes, s.Network, s.Budget}, part{base.Lock, base.Nodes, base.Network, base.Budget})
	g.YAML = string(data)
	own, lock := g.library(), &s.Lock
	drift := fmt.Sprintf("Factor: %q", own.Drift.Factor)
	if own.Drift.Constant > 0 {
		drift += ", Constant: " + inGo(own.Drift.Constant)
	}
	guard := ""
	if g.attacked().Forgetful() {
		guard = fmt.Sprintf("\tredlock.WithRestartGuard(redlock.Guard{MaxTTL: %s}), // instead of a restart delay\n", inGo(lock.TTL))
	}
	delay := ""
	if d := own.RetryDelay; d != (protocols.Range{}) {
		delay = fmt.Sprintf("\tredlock.WithRetryDelay(%s, %s),\n", inGo(d.Min), inGo(d.Max))
	}
	g.Go = fmt.Sprintf(`client, err := redlock.New(nodes,
	redlock.WithQuorum(%d),
	redlock.WithDrift(redlock.Drift{%s}),
	redlock.WithNodeTimeout(%s),
%s	redlock.WithLossLead(%s), // at most half of the validity takes effect: check lease.Until() too
%s)
lease, err := client.Lock(ctx, resource, %s)
`, own.Quorum, drift, inGo(lock.NodeTimeout), delay, inGo(own.LossLead), guard, inGo(lock.TTL))
	return err
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
func (g *Suggestion) WriteText(w io.Writer, paint Paint) error {
	var b strings.Builder
	b.WriteString("Settings\n")
	for _, v := range g.Values {
		fmt.Fprintf(&b, "  %-15s %-10s %s\n", v.Setting, v.Value, v.Formula)
		if v.Note != "" {
			b.WriteString(wordwrap.Help(fmt.Sprintf("%28s", ""), fmt.Sprintf("%29s", ""), v.Note))
		}
	}
	fmt.Fprintf(&b, "\nFor a settings file\n\n%s\nFor the library\n\n%s\nWhat the simulator says of them\n", g.YAML, g.Go)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return g.Audit.WriteText(w, paint)
}
