package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Known is what a user knows. The tags are the keys of a file; all may be left out but one of ttl and work.
type Known struct {
	// ClockError bounds the rate error of every clock.
	ClockError ClockError `yaml:"clock-error"`
	// ClockStep bounds the steps of the nodes' wall clocks.
	ClockStep time.Duration `yaml:"clock-step"`
	// Pause bounds the pauses of clients between their last look at the clock and the arrival of an effect.
	Pause time.Duration `yaml:"pause"`
	// RTT is the round trip between a client and a node.
	RTT RTT `yaml:"rtt"`
	// Persistence is what nodes write to disk.
	Persistence redis.Persistence `yaml:"persistence"`
	// PowerLoss: nodes can lose power, which costs what they had not fsynced. A process that is killed loses that only without
	// persistence.
	PowerLoss bool `yaml:"power-loss"`
	// Nodes is how many nodes there are; Down how many of them may be down at a time; and MemoryLoss how many may come
	// back without their memory before the restart delay.
	Nodes      int `yaml:"nodes"`
	Down       int `yaml:"down"`
	MemoryLoss int `yaml:"memory-loss"`
	// TTL is the time to live of locks; where it is 0 it follows from Work, how long what is done under the lock takes.
	TTL  time.Duration `yaml:"ttl"`
	Work time.Duration `yaml:"work"`
	// NodeTimeout, where given, is the node timeout; else it is just more than the longest round trip.
	NodeTimeout *time.Duration `yaml:"node-timeout"`
}

// Default is what is taken for granted unless it is said: five nodes that persist nothing and can lose power, one of which
// may be down; the rate error that a time daemon may slew by, 500 ppm; round trips of 1 to 10 ms; no pauses and no steps.
func Default() Known {
	return Known{ClockError: ClockError{faults.PPM(500)}, PowerLoss: true, Nodes: 5, Down: 1,
		RTT: RTT{scenarios.Latency{Latency: network.Uniform(time.Millisecond, 10*time.Millisecond)}}}
}

// ClockError is a rate error, written as a percentage or in parts per million: "0.05%", "500ppm".
type ClockError struct{ faults.Rate }

// UnmarshalScalar reads a rate error.
func (c *ClockError) UnmarshalScalar(text string) error {
	if n, ok := strings.CutSuffix(text, "ppm"); ok {
		d, ok := faults.ParseDecimal(n)
		if !ok {
			return &strictyaml.Invalid{Msg: `not a rate error, as "500ppm" or "0.05%"`, Word: text}
		}
		c.Rate = faults.RateOf(d.Shift(-6))
		return nil
	}
	return c.Rate.UnmarshalScalar(text)
}

// RTT is a distribution of round trips, written as the latency of a scenario file; min may be left out, and is 0 then.
type RTT struct{ scenarios.Latency }

// UnmarshalNode reads a distribution.
func (r *RTT) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind == yaml.MappingNode && !slices.ContainsFunc(n.Content, func(k *yaml.Node) bool { return k.Value == "min" }) {
		with := *n
		with.Content = append([]*yaml.Node{strictyaml.Text("min"), strictyaml.Text("0s")}, n.Content...)
		n = &with
	}
	d.Decode(n, &r.Latency)
}

// Parse reads a file over what is known already. Errors are a strictyaml.Errors.
func Parse(path string, data []byte, k *Known) error { return strictyaml.Decode(path, data, k) }

// Set is Parse for a file with one key only; name is what the file is called in errors.
func Set(name, key, value string, k *Known) error { return strictyaml.DecodeValue(name, key, value, k) }

// InputError is something known that makes no sense, or for which there are no settings.
type InputError struct{ Err error }

func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *InputError) Unwrap() error { return e.Err }

func wrong(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// longest bounds the TTL, the work and the pause.
const longest = 24 * time.Hour

func (k *Known) check() error {
	switch rho := k.ClockError.Ratio(); {
	case rho.IsNegative() || rho.GreaterThan(decimal.New(kernel.MaxRate, -9)):
		return wrong("clock-error %v is not from 0%% to 50%%", k.ClockError.Rate)
	case k.Nodes < 1 || k.Nodes > redlock.MaxNodes:
		return wrong("nodes %d, must be from 1 to %d", k.Nodes, redlock.MaxNodes)
	case k.Down < 0 || k.Down >= k.Nodes:
		return wrong("down %d, must be from 0 to less than the %d nodes", k.Down, k.Nodes)
	case k.MemoryLoss < 0 || k.MemoryLoss > k.Nodes:
		return wrong("memory-loss %d, must be from 0 to the %d nodes", k.MemoryLoss, k.Nodes)
	case k.TTL == 0 && k.Work == 0:
		return wrong("how long locks live (ttl) or how long the work takes (work) must be given")
	case k.TTL%time.Millisecond != 0:
		return wrong("ttl %v is not a whole number of milliseconds, as Redis keeps it", k.TTL)
	case k.NodeTimeout != nil && *k.NodeTimeout <= 0:
		return wrong("node-timeout %v is not positive", *k.NodeTimeout)
	}
	for _, d := range []struct {
		key string
		is  time.Duration
	}{{"clock-step", k.ClockStep}, {"pause", k.Pause}, {"ttl", k.TTL}, {"work", k.Work}, {"rtt", k.RTT.Max()}} {
		if d.is < 0 || d.is > longest {
			return wrong("%s %v is not from 0s to %v", d.key, d.is, longest)
		}
	}
	return nil
}
