package advise

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// part is what a settings file says.
type part struct {
	Lock    protocols.Settings `yaml:"lock"`
	Nodes   scenarios.Nodes    `yaml:"nodes"`
	Network scenarios.Network  `yaml:"network"`
	Budget  faults.Budget      `yaml:"budget"`
}

// write puts the settings into words.
func (a *Advice) write() error {
	base := scenarios.Default()
	s := a.Settings
	data, err := strictyaml.Encode(part{s.Lock, s.Nodes, s.Network, s.Budget}, part{base.Lock, base.Nodes, base.Network, base.Budget})
	if err != nil {
		return err
	}
	a.YAML = string(data)
	a.Go = a.options()
	return nil
}

func (a *Advice) options() string {
	lock := &a.Settings.Lock
	var b strings.Builder
	b.WriteString("client, err := redlock.New(nodes,\n")
	option := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+"\n", args...) }
	option("redlock.WithQuorum(%d),", a.library().Quorum)
	drift := fmt.Sprintf("Factor: %q", a.library().Drift.Factor)
	if a.library().Drift.Constant > 0 {
		drift += ", Constant: " + inGo(a.library().Drift.Constant)
	}
	option("redlock.WithDrift(redlock.Drift{%s}),", drift)
	option("redlock.WithNodeTimeout(%s),", inGo(lock.NodeTimeout))
	option("redlock.WithRetryDelay(%s, %s),", inGo(a.library().RetryDelay.Min), inGo(a.library().RetryDelay.Max))
	option("redlock.WithLossLead(%s), // at most half of the validity takes effect: check lease.Until() too", inGo(max(a.Guard, time.Millisecond)))
	if a.forgetful() {
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

// WriteJSON writes the advice as one JSON object.
func (a *Advice) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(a)
}

// WriteText writes the advice for a reader.
func (a *Advice) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString("SETTINGS, each tried at its limit and just below it\n")
	for _, v := range a.Values {
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
	b.WriteString("\nCOST\n")
	for _, c := range a.Costs {
		ok := "confirmed"
		if !c.Confirmed {
			ok = "NOT CONFIRMED"
		}
		fmt.Fprintf(&b, "  %s: %s\n      simulated: %s (%s)\n", cmp.Or(c.whatShort, c.What), c.computedShort, c.simulatedShort, ok)
	}
	b.WriteString("\nWHAT NO SETTING CAN PREVENT\n")
	for _, l := range a.Limits {
		fmt.Fprintf(&b, "  %s\n", l.What)
		if l.Shown != "" {
			fmt.Fprintf(&b, "      simulated: %s\n", l.Shown)
		}
	}
	fmt.Fprintf(&b, "\nFOR A SCENARIO FILE\n%s\nFOR THE LIBRARY\n%s", a.YAML, a.Go)
	_, err := io.WriteString(w, b.String())
	return err
}
