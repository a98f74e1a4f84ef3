package protocols

import (
	"testing"
	"time"

	"redlocksim/internal/strictyaml"
)

func TestPresetsAreUsable(t *testing.T) {
	for _, name := range Presets() {
		s := Default()
		if err := strictyaml.Decode("f", []byte("preset: "+name), &s); err != nil {
			t.Fatal(err)
		}
		if s.Preset != Preset(name) || s.Protocol == Default().Protocol {
			t.Errorf("%s: preset %q of protocol %s", name, s.Preset, s.Protocol)
		}
		for _, nodes := range []int{1, 3, 5} {
			if err := s.Check(nodes); err != nil {
				t.Errorf("%s on %d nodes: %v", name, nodes, err)
			}
		}
	}
}

// What is given beside a preset replaces what it sets, wherever it stands, and what follows from the TTL follows the one given.
func TestKeysBesideAPreset(t *testing.T) {
	for _, test := range []struct {
		file  string
		check func(Settings, RedlockPlainSettings) bool
	}{
		{"preset: redsync", func(s Settings, own RedlockPlainSettings) bool {
			return s.TTL == 8*time.Second && s.NodeTimeout == 400*time.Millisecond && own.Attempts == 32
		}},
		{"{preset: redsync, ttl: 10s}", func(s Settings, own RedlockPlainSettings) bool {
			return s.TTL == 10*time.Second && s.NodeTimeout == 500*time.Millisecond
		}},
		{"{ttl: 10s, attempts: 2, preset: redsync, node-timeout: 20ms}", func(s Settings, own RedlockPlainSettings) bool {
			return own.Attempts == 2 && s.NodeTimeout == 20*time.Millisecond && own.Drift.Constant == 0 && own.Value == PerCall && own.Resends == 3
		}},
		{"{preset: redlock-rb, asking: parallel, drift: {constant: 5ms}}", func(s Settings, own RedlockPlainSettings) bool {
			return own.Asking == Parallel && own.Drift.Constant == 5*time.Millisecond && own.Drift.Factor.String() == "1%" && own.Extending == ExtendReCreate
		}},
		{"preset: redlock-cpp", func(s Settings, own RedlockPlainSettings) bool {
			return s.TTL == Default().TTL && own.Resolution == time.Second
		}},
		{"preset: phpredis-mutex", func(s Settings, own RedlockPlainSettings) bool {
			return s.TTL == 4*time.Second && own.GiveUp == 3*time.Second
		}},
		{"quorum: 4", func(s Settings, own RedlockPlainSettings) bool {
			return s.Preset == "" && Of[QuorumSettings](s).Quorum == 4 && s.TTL == Default().TTL
		}},
	} {
		s := Default()
		if err := strictyaml.Decode("f", []byte(test.file), &s); err != nil {
			t.Fatal(err)
		}
		if !test.check(s, Of[RedlockPlainSettings](s)) {
			t.Errorf("%s: %+v", test.file, s)
		}
	}
}

func TestWrongPresets(t *testing.T) {
	for file, want := range map[string]string{
		"preset: redlock-ruby":               `f:1:9: preset: no such preset "redlock-ruby"; did you mean "redlock-rb"?`,
		"ttl: 10s\npreset: Redsync":          `f:2:9: preset: no such preset "Redsync"; did you mean "redsync"?`,
		"{preset: redsync, node-timout: 1s}": `f:1:19: unknown key "node-timout"; did you mean "node-timeout"?`,
	} {
		s := Default()
		if err := strictyaml.Decode("f", []byte(file), &s); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", file, err, want)
		}
	}
}

func TestHabitsThatMakeNoSense(t *testing.T) {
	for file, want := range map[string]string{
		"{protocol: redlock-plain, value: client, value-from: time}": "value client draws nothing, neither value-from time nor client-time",
		"{protocol: redlock-plain, cleanup: at-end}":                 "cleanup at-end deletes the value of the call, and needs value call",
		"{preset: phpredis-mutex, backoff: -10%}":                    "backoff -10% from a delay of 10ms on, neither may be negative and a delay of 0 does not grow",
		"{preset: redlock-cs, backoff: 10%}":                         "backoff 10% from a delay of 0s on, neither may be negative and a delay of 0 does not grow",
		"{protocol: redlock, retry-delay: {min: 0s, max: 1s}}":       "retry delay from 0s to 1s, must be positive and not fall",
	} {
		s := Default()
		if err := strictyaml.Decode("f", []byte(file), &s); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(5); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", file, err, want)
		}
	}
}

func TestQuorumRoundedUp(t *testing.T) {
	for nodes, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3, 5: 4} {
		x := &redlockPlain{own: RedlockPlainSettings{Rounding: RoundUp}}
		x.nodes = make([]Redis, nodes)
		if x.count(); x.quorum != want {
			t.Errorf("half of %d nodes and one, rounded up: %d, want %d", nodes, x.quorum, want)
		}
	}
}
