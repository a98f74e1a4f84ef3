package protocols

import (
	"fmt"
	"reflect"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/sim/kernel"
)

// Settings are the protocol under test and its settings: those that every lock has, and those of its own.
type Settings struct {
	// Preset starts from the defaults and habits of another implementation; other keys of lock override it. redisson is its
	// RedissonRedLock on several nodes; its RLock on one is a protocol. Default: not set. Example: redsync
	Preset Preset `yaml:"preset"`
	// Protocol is the lock to test. redlock is the library of this project; redlock-plain is Redlock as ports write it.
	// Default: redlock. Example: redlock-plain
	Protocol Name `yaml:"protocol"`
	// TTL is the time to live of lock keys. Default: 10s. Example: 2s
	TTL time.Duration `yaml:"ttl" faster:"milliseconds"`
	// NodeTimeout is how long a client waits for a node's answer. Default: 50ms. Example: 20ms
	NodeTimeout time.Duration `yaml:"node-timeout"`
	// Clock is the clock with which clients measure validity: monotonic, boottime (monotonic, and goes on during a
	// suspension) or wall. Default: monotonic. Example: wall
	Clock kernel.ClockKind `yaml:"clock"`
	// GuardTime is how long before the end of its lease, by its own clock, a client stops sending effects. To protect the
	// resource it must be as long as the longest pause and the longest message together. With 0s a client sends effects as
	// long as it believes in its lease, as the implementations behind the presets do. Default: 0s. Example: 820ms
	GuardTime time.Duration `yaml:"guard-time" range:"0s.."`
	// Renewals is the maximum number of times that a client renews one lock; 0 is no limit, but for protocol redlock the
	// library's own: 1000 times, and for an hour. Default: 0. Example: 3
	Renewals int `yaml:"renewals" range:"0.."`

	own Own // of the type that the protocol declares
}

// Check says what is wrong with the settings for a number of nodes.
func (s Settings) Check(nodes int) error {
	if s.NodeTimeout <= 0 {
		return fmt.Errorf("node-timeout %v is not positive", s.NodeTimeout)
	}
	if _, known := Find(s.Protocol); !known {
		return fmt.Errorf("no such protocol %q", s.Protocol)
	}
	return s.own.Check(s, nodes)
}

// CheckResource says why nothing of that name can be locked with the settings on a number of nodes, which Check found
// nothing wrong with.
func (s Settings) CheckResource(name string, nodes int) error {
	if own, picky := s.own.(interface {
		checkResource(s Settings, name string, nodes int) error
	}); picky {
		return own.checkResource(s, name, nodes)
	}
	return nil
}

// Votes is how many of some nodes must vote for a lock; false for a protocol without votes.
func (s Settings) Votes(nodes int) (quorum int, voted bool) {
	own, voted := s.own.(interface{ quorum(nodes int) int })
	if !voted {
		return 0, false
	}
	return own.quorum(nodes), true
}

// KeysOf are all keys that the lock on a resource may have on a node. On a service in the place of Redis there are none.
func (s Settings) KeysOf(resource string) []string {
	keys := []string{resource}
	if own, more := s.own.(interface {
		besides(resource string) []string
	}); more {
		keys = append(keys, own.besides(resource)...)
	}
	return keys
}

// Faster is the settings with times that are as many times shorter.
func (s Settings) Faster(times int) Settings {
	own := copied(s.own)
	Faster(&s, times)
	faster(own, time.Duration(times))
	s.own = own.Interface().(Own)
	return s
}

// Faster divides the times in a struct that files are read into. The tag faster says what else there is to it: those that
// Redis counts in milliseconds stay whole ones. The unit of a clock stays as it is. Of the allowance for drift, Redis' own
// milliseconds stay, for which the default stands.
func Faster(settings any, times int) { faster(reflect.ValueOf(settings).Elem(), time.Duration(times)) }

func faster(settings reflect.Value, by time.Duration) {
	for i := range settings.NumField() {
		v, tag := settings.Field(i), settings.Type().Field(i).Tag
		if !v.CanInterface() {
			continue
		}
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			changed := reflect.New(v.Type().Elem())
			changed.Elem().Set(v.Elem())
			v.Set(changed)
			v = changed.Elem()
		}
		switch d, isTime := v.Interface().(time.Duration); {
		case isTime && tag.Get("faster") == "milliseconds":
			v.SetInt(int64(wholeMilliseconds(d / by)))
		case isTime && tag.Get("faster") == "drift":
			v.SetInt(int64(max(d/by, min(d, redlock.DefaultDrift().Constant))))
		case isTime && tag.Get("faster") != "unit":
			v.SetInt(int64(d / by))
		case v.Kind() == reflect.Struct && tag.Get("yaml") != "":
			faster(v, by)
		}
	}
}

// wholeMilliseconds is a time as Redis counts it.
func wholeMilliseconds(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// wholePositive is what is wrong with a time that goes to Redis.
func wholePositive(setting string, d time.Duration) error {
	if d <= 0 || d%time.Millisecond != 0 {
		return fmt.Errorf("%s %v is not a positive whole number of milliseconds", setting, d)
	}
	return nil
}

// checkTTL is what every protocol with a time to live in Redis asks of it.
func (s Settings) checkTTL() error { return wholePositive("ttl", s.TTL) }

// Default is the settings that a file may leave out.
func Default() Settings {
	s := Settings{TTL: 10 * time.Second, NodeTimeout: redlock.DefaultNodeTimeout}
	return s.With("redlock")
}

// Name is the name of a protocol.
type Name string

var _ = strictyaml.EnumOf("protocol", names()...)

func names() []Name {
	var all []Name
	for _, p := range All() {
		all = append(all, p.Name)
	}
	return all
}

var _ = strictyaml.Enum[kernel.ClockKind]("clock").Word("monotonic", kernel.Monotonic).Word("boottime", kernel.Boottime).
	Word("wall", kernel.WallClock)
