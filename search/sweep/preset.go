package sweep

import (
	"cmp"

	"redlocksim/scenarios"
)

// preset is a classic pair of settings, ready to be swept.
type preset struct {
	name, text string
	schedule   string
	settings   []string // in place of the default ones
	axes       []string // the last is that of the frontier
}

// presets have messages that take no time, in which the formulas are exact.
var presets = []preset{
	{"drift", "drift allowance × clock rate error", "clocks",
		[]string{"lock.drift={factor: 0%, constant: 0s}"},
		[]string{"budget.clock-rate=0%,0.1%,0.5%,1%,2%,5%,10%,20%", "lock.drift.factor=0%:35%:1%"}},
	{"clock-step", "drift allowance × steps of the nodes' clocks", "clocks",
		[]string{"lock.drift={factor: 0%, constant: 0s}"},
		[]string{"budget.clock-step=0s,10ms,100ms,500ms,1s,2s,5s", "lock.drift.constant=0s:6s:250ms"}},
	{"restart", "restart delay × time to live", "restart",
		nil,
		[]string{"lock.ttl=1s,2s,5s,10s,20s,30s", "budget.restart-delay=0s:30s:1s"}},
	{"quorum", "quorum × nodes that lose their memory", "memory-loss",
		nil,
		[]string{"nodes.count=3,5,7", "budget.memory-loss=0:6:1", "lock.quorum=2:7:1"}},
	{"pause", "guard time of the client × pause × time to live", "pause",
		[]string{"lock.drift={factor: 0%, constant: 0s}"},
		[]string{"lock.ttl=5s,10s,30s", "adversary.pause=0s,100ms,500ms,1s,2s,4s", "lock.guard-time=0s:4500ms:250ms"}},
	{"timeout", "node timeout × latency", "timeout",
		nil,
		[]string{"network.latency=0s,1ms,5ms,10ms,25ms,50ms,100ms", "lock.node-timeout=5ms:250ms:5ms"}},
}

// Presets lists the names of the presets and what they are about.
func Presets() (names, texts []string) {
	for _, p := range presets {
		names, texts = append(names, p.name), append(texts, p.text)
	}
	return names, texts
}

// Preset is the sweep of this name, over the settings of a base, as they stand, or, if it is nil, the default ones with
// messages that take no time and, for some presets, without a drift allowance.
func Preset(name string, base *Base) (Spec, error) {
	for _, p := range presets {
		if p.name == name {
			return p.spec(base)
		}
	}
	names, _ := Presets()
	return Spec{}, unknown("preset", name, names...)
}

func (p preset) spec(base *Base) (s Spec, err error) {
	s.Name = p.name + ": " + p.text
	if base != nil {
		s.Base = *base
	} else if s.Base, err = p.base(); err != nil {
		return s, err
	}
	for _, text := range p.axes {
		a, err := ParseAxis(text)
		if err != nil {
			return s, err
		}
		s.Axes = append(s.Axes, a)
	}
	s.Schedules, err = FindSchedules(p.schedule)
	s.Frontier = s.Axes[len(s.Axes)-1].Path
	return s, err
}

// base is the preset's own.
func (p preset) base() (Base, error) {
	base, err := instant()
	for _, text := range p.settings {
		setting, wrong := ParseSetting(text)
		if err = cmp.Or(err, wrong); err != nil {
			return base, err
		}
		base, err = base.With(setting)
	}
	return base, err
}

// Free is a sweep without axes, to be given some, with all schedules that are about mutual exclusion, over the settings of
// a base or, if it is nil, those of instant.
func Free(base *Base) (s Spec, err error) {
	s.Name = "sweep"
	if base != nil {
		s.Base = *base
	} else if s.Base, err = instant(); err != nil {
		return s, err
	}
	s.Schedules, err = FindSchedules()
	return s, err
}

// instant is the base with the default settings and messages that take no time.
func instant() (Base, error) {
	s := scenarios.Default()
	s.Network.Latency = scenarios.Latency{}
	return SettingsOf(s.Settings())
}

// Vary gives the sweep an axis: in place of the one of the same path, or as the outermost.
func (s *Spec) Vary(a Axis) {
	for i := range s.Axes {
		if s.Axes[i].Path == a.Path {
			s.Axes[i] = a
			return
		}
	}
	s.Axes = append([]Axis{a}, s.Axes...)
}
