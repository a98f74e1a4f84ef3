package protocols

import (
	"reflect"
	"testing"
	"time"

	"redlocksim/internal/strictyaml"
)

// Every protocol declares its settings: a struct that has no key of every lock's, and that is safe to be copied.
func TestOwnSettings(t *testing.T) {
	common := Name("").Keys()
	for _, p := range All() {
		s := Default().With(p.Name)
		if err := s.Check(5); err != nil {
			t.Errorf("%s: its defaults are refused: %v", p.Name, err)
		}
		if reflect.TypeOf(p.own).Kind() != reflect.Struct {
			t.Errorf("%s: its settings are a %T, not a struct", p.Name, p.own)
		}
		seen := map[string]bool{}
		for _, f := range p.Name.Keys() {
			if seen[f.Key] {
				t.Errorf("%s has two settings named %s", p.Name, f.Key)
			}
			seen[f.Key] = true
		}
		if len(seen) < len(common) {
			t.Errorf("%s lacks settings that every lock has", p.Name)
		}
	}
	if len(allKeys()) < len(common)+20 {
		t.Errorf("%d settings are of some protocols only, there were more", len(allKeys())-len(common))
	}
}

// What is read by the machine's clock is divided when a scenario is played faster: every duration of a protocol.
func TestEveryTimeIsFaster(t *testing.T) {
	unchanged := map[string]bool{
		"Resolution": true, // the unit of the machine's own clock
	}
	for _, p := range All() {
		own := copied(p.own)
		durations(own, "", func(name string, d reflect.Value) {
			was := d.Int()
			d.SetInt(int64(10 * time.Second))
			s := Default().With(p.Name)
			s.own = own.Interface().(Own)
			fast, found := copied(s.Faster(10).own), false
			durations(fast, "", func(other string, d reflect.Value) {
				if other == name {
					found = true
					if want := time.Second; !unchanged[name] && d.Int() != int64(want) {
						t.Errorf("%s: %s of 10s at ten times the speed: %v, want %v", p.Name, name, time.Duration(d.Int()), want)
					}
				}
			})
			if !found {
				t.Errorf("%s: no %s any more", p.Name, name)
			}
			d.SetInt(was)
		})
	}
}

// durations calls f for every duration in settings. Pointers are set.
func durations(v reflect.Value, name string, f func(name string, d reflect.Value)) {
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		f(name, v)
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		durations(v.Elem(), name, f)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				durations(v.Field(i), name+v.Type().Field(i).Name, f)
			}
		}
	}
}

// A setting that a protocol does not have is refused where it stands, with what can be done, wherever the protocol stands.
func TestSettingsOfOtherProtocols(t *testing.T) {
	for text, want := range map[string]string{
		"{preset: redsync, fencing: true}":                            `f:1:19: protocol redlock-plain has no such setting; leave it out, or choose a protocol that has it (redlock, one-redis): "fencing"`,
		"{cleanup: del}":                                              `f:1:2: protocol redlock has no such setting; leave it out, or choose a protocol that has it (redlock-plain): "cleanup"`,
		"{protocol: single, watchdog: true}":                          `f:1:20: protocol single has no such setting; leave it out, or choose a protocol that has it (redisson, redisson-fair, redisson-multi): "watchdog"`,
		"{watchdog: true, protocol: single}":                          `f:1:2: protocol single has no such setting; leave it out, or choose a protocol that has it (redisson, redisson-fair, redisson-multi): "watchdog"`,
		"{protocol: redisson, drift: {factor: 1%}}":                   `f:1:22: protocol redisson has no such setting; leave it out, or choose a protocol that has it (redlock, redlock-plain, one-redis, node-permits): "drift"`,
		"{protocol: single, fencng: true}":                            `f:1:20: unknown key "fencng"; did you mean "fencing"?`,
		"{protocol: single, releas: del}":                             `f:1:20: unknown key "releas"; did you mean "release"?`,
		"{protocol: singel, release: del}":                            `f:1:12: protocol: no such protocol "singel"; did you mean "single"?`,
		"{protocol: redlock-plain, cleanup: del, quorum: 3}":          "",
		"{quorum: 3, cleanup: del, protocol: redlock-plain}":          "",
		"{fencing: true, guard: {max-ttl: 10s}, drift: {factor: 1%}}": "",
	} {
		s := Default()
		err := strictyaml.Decode("f", []byte(text), &s)
		if got := errorText(err); got != want {
			t.Errorf("%s: got  %s\nwant %s", text, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Protocols that allow for drift refuse, in one way, an allowance with which no grant could be valid.
func TestDriftIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"{factor: -0.0001%}":                 "drift factor -0.0001% is not from 0 to less than 1",
		"{factor: 100%}":                     "drift factor 100% is not from 0 to less than 1",
		"{factor: 250%}":                     "drift factor 250% is not from 0 to less than 1",
		"{constant: -1ns}":                   "drift constant -1ns is negative",
		"{factor: 0%, constant: 10s}":        "TTL 10s is not larger than its drift allowance 10s, no grant could be valid",
		"{factor: 50%, constant: 5s}":        "TTL 10s is not larger than its drift allowance 10s, no grant could be valid",
		"{factor: 99.9999%, constant: 1s}":   "TTL 10s is not larger than its drift allowance 10.99999s, no grant could be valid",
		"{factor: 0%, constant: 9.999s}":     "",
		"{factor: 99.9999%, constant: 0s}":   "",
		"{factor: 0%, constant: 0s}":         "",
		"{factor: 49.9999%, constant: 5s}":   "",
		"{factor: 1%, constant: 9.8999999s}": "",
	} {
		checked := 0
		for _, protocol := range All() {
			s := Default().With(protocol.Name)
			if !Has[DriftSettings](s) {
				continue
			}
			checked++
			if err := strictyaml.Decode("f", []byte("{ttl: 10s, drift: "+text+"}"), &s); err != nil {
				t.Fatal(err)
			}
			if got := errorText(s.Check(5)); got != want {
				t.Errorf("%s, %s: got  %s\nwant %s", protocol.Name, text, got, want)
			}
		}
		if checked < 2 {
			t.Errorf("%d protocols allow for drift", checked)
		}
	}
}

// With another protocol a lock keeps what both have, and takes the other's defaults for the rest.
func TestWithAnotherProtocol(t *testing.T) {
	s := Default()
	if err := strictyaml.Decode("f", []byte("{quorum: 4, drift: {factor: 3%}, wake-up: 1s, ttl: 2s}"), &s); err != nil {
		t.Fatal(err)
	}
	plain := s.With("redlock-plain")
	if own := Of[RedlockPlainSettings](plain); own.Quorum != 4 || own.Drift.Factor.String() != "3%" || plain.TTL != 2*time.Second || own.Cleanup != CleanupCompareAndDelete {
		t.Errorf("%+v", plain)
	}
	if fair := Of[RedissonFairSettings](s.With("redisson-fair")); !fair.Watchdog || fair.WaitTimeout != 5*time.Second {
		t.Errorf("%+v", fair)
	}
	if Has[QuorumSettings](s.With("single")) || Of[QuorumSettings](s.With("single")).Quorum != 0 {
		t.Error("a single instance has a quorum")
	}
	if Of[RedlockSettings](s).WakeUp != time.Second || s.Protocol != "redlock" {
		t.Errorf("the settings were changed: %+v", s)
	}
}

// A change of a copy does not change what it was copied from.
func TestChangeOfACopy(t *testing.T) {
	s := Default()
	x := s
	if !Change(&x, func(own *QuorumSettings) { own.Quorum = 5 }) || Of[RedlockSettings](x).Quorum != 5 || Of[RedlockSettings](s).Quorum != 0 {
		t.Errorf("%+v, copied from %+v", x, s)
	}
	if Change(&x, func(own *OneRedisSettings) { own.Replicas = 1 }) {
		t.Error("a setting was changed that the protocol does not have")
	}
}
