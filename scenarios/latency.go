package scenarios

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/sim/network"
)

// Latency is a distribution of message delays: a duration, a range {min, max} with even distribution, or quantiles
// {min, p50, p90, p99, p99.9, max} with straight lines between those that are given.
type Latency struct{ network.Latency }

// UnmarshalNode reads a latency.
func (l *Latency) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		var always time.Duration
		if d.Decode(n, &always) {
			l.set(d, n, network.Constant(always))
		}
		return
	}
	var q quantiles
	if !d.Decode(n, &q) {
		return
	}
	points := []network.Quantile{{Share: 0, At: q.Min}}
	for _, p := range q.between() {
		if *p.at != nil {
			points = append(points, network.Quantile{Share: p.share, At: **p.at})
		}
	}
	l.set(d, n, network.Latency{Points: append(points, network.Quantile{Share: network.Million, At: q.Max})})
}

// quantiles is a latency that varies. Between two of its points delays are spread evenly.
type quantiles struct {
	// Min is the shortest delay. Example: 1ms
	Min time.Duration `yaml:"min,required"`
	// P50 is the delay that 50 % of the messages do not exceed. Default: not set. Example: 2ms
	P50 *time.Duration `yaml:"p50"`
	// P90 is the delay that 90 % of the messages do not exceed. Default: not set. Example: 4ms
	P90 *time.Duration `yaml:"p90"`
	// P99 is the delay that 99 % of the messages do not exceed. Default: not set. Example: 8ms
	P99 *time.Duration `yaml:"p99"`
	// P999 is the delay that 99.9 % of the messages do not exceed. Default: not set. Example: 15ms
	P999 *time.Duration `yaml:"p99.9"`
	// Max is the longest delay. Example: 20ms
	Max time.Duration `yaml:"max,required"`
}

// quantile is a point between the ends that a file may give.
type quantile struct {
	share int
	at    **time.Duration
}

// between are the points between the ends.
func (q *quantiles) between() []quantile {
	return []quantile{{500_000, &q.P50}, {900_000, &q.P90}, {990_000, &q.P99}, {999_000, &q.P999}}
}

// MarshalNode is the counterpart of UnmarshalNode.
func (l Latency) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	if err := l.Check(); err != nil {
		e.Errorf("%w", err)
		return strictyaml.Text("")
	}
	if len(l.Points) == 0 || len(l.Points) == 2 && l.Points[0].At == l.Points[1].At {
		return e.Encode(l.Max(), nil)
	}
	q := quantiles{Min: l.Points[0].At, Max: l.Max()}
	for _, p := range l.Points[1 : len(l.Points)-1] {
		at := slices.IndexFunc(q.between(), func(b quantile) bool { return b.share == p.Share })
		if at < 0 {
			e.Errorf("a file cannot give the latency of %d in a million messages", p.Share)
			break
		}
		*q.between()[at].at = &p.At
	}
	return e.Encode(q, quantiles{})
}

func (l *Latency) set(d *strictyaml.Decoder, n *yaml.Node, latency network.Latency) {
	if err := latency.Check(); err != nil {
		d.Errorf(n, "", nil, "%v", err)
		return
	}
	l.Latency = latency
}
