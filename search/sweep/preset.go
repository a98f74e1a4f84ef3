package sweep

import (
	"cmp"

	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
)

// preset is a classic pair of settings, ready to be swept.
type preset struct {
	name, text string
	schedule   string
	settings   []variant.Setting // in place of the default ones
	axes       []string          // the last is that of the frontier
}

var noAllowance = []variant.Setting{{Path: "lock.drift", Word: "{factor: 0%, constant: 0s}"}}

// presets have messages that take no time, in which the formulas are exact.
var presets = []preset{
	{"drift", "drift allowance × clock rate error", "clocks", noAllowance,
		[]string{"budget.clock-rate=0%,0.1%,0.5%,1%,2%,5%,10%,20%", "lock.drift.factor=0%:35%:1%"}},
	{"clock-step", "drift allowance × steps of the nodes' clocks", "clocks", noAllowance,
		[]string{"budget.clock-step=0s,10ms,100ms,500ms,1s,2s,5s", "lock.drift.constant=0s:6s:250ms"}},
	{"restart", "restart delay × time to live", "restart", nil,
		[]string{"lock.ttl=1s,2s,5s,10s,20s,30s", "budget.restart-delay=0s:30s:1s"}},
	{"quorum", "quorum × nodes that lose their memory", "memory-loss", nil,
		[]string{"nodes.count=3,5,7", "budget.memory-loss=0:6:1", "lock.quorum=2:7:1"}},
	{"pause", "guard time of the client × pause × time to live", "pause", noAllowance,
		[]string{"lock.ttl=5s,10s,30s", "adversary.pause=0s,100ms,500ms,1s,2s,4s", "lock.guard-time=0s:4500ms:250ms"}},
	{"timeout", "node timeout × latency", "timeout", nil,
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
func Preset(name string, base *variant.File) (Spec, error) {
	for _, p := range presets {
		if p.name != name {
			continue
		}
		s, err := Free(base)
		if base == nil && err == nil {
			s.Base, err = s.Base.With(p.settings...)
		}
		for _, text := range p.axes {
			a, wrong := ParseAxis(text)
			s.Axes, err = append(s.Axes, a), cmp.Or(err, wrong)
		}
		s.Name, s.Schedules = p.name+": "+p.text, []string{p.schedule}
		return s, err
	}
	names, _ := Presets()
	return Spec{}, attacks.Unknown("preset", name, names...)
}

// Free is a sweep without axes, to be given some, over the settings of a base or, if it is nil, the default ones with messages
// that take no time.
func Free(base *variant.File) (s Spec, err error) {
	s.Name = "sweep"
	if base != nil {
		s.Base = *base
		return s, nil
	}
	instant := scenarios.Default()
	instant.Network.Latency = scenarios.Latency{}
	s.Base, err = variant.SettingsOf(instant.Settings())
	return s, err
}
