package scenarios

import (
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/sim"
)

// Latency is a distribution of message delays: a duration, a range {min, max} with even distribution, or quantiles
// {min, p50, p90, p99, p99.9, max} with straight lines between those that are given.
type Latency struct{ sim.Latency }

// UnmarshalNode reads a latency.
func (l *Latency) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		var always time.Duration
		if d.Decode(n, &always) {
			l.set(d, n, sim.Constant(always))
		}
		return
	}
	var q struct {
		Min  time.Duration  `yaml:"min,required"`
		P50  *time.Duration `yaml:"p50"`
		P90  *time.Duration `yaml:"p90"`
		P99  *time.Duration `yaml:"p99"`
		P999 *time.Duration `yaml:"p99.9"`
		Max  time.Duration  `yaml:"max,required"`
	}
	if !d.Decode(n, &q) {
		return
	}
	points := []sim.Quantile{{Share: 0, At: q.Min}}
	for _, p := range []struct {
		share int
		at    *time.Duration
	}{{500_000, q.P50}, {900_000, q.P90}, {990_000, q.P99}, {999_000, q.P999}} {
		if p.at != nil {
			points = append(points, sim.Quantile{Share: p.share, At: *p.at})
		}
	}
	l.set(d, n, sim.Latency{Points: append(points, sim.Quantile{Share: sim.Million, At: q.Max})})
}

func (l *Latency) set(d *strictyaml.Decoder, n *yaml.Node, latency sim.Latency) {
	if err := latency.Check(); err != nil {
		d.Errorf(n, "", nil, "%v", err)
		return
	}
	l.Latency = latency
}
