package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/rounded"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// Slider is a setting that can be changed by dragging: what it is called, its value, and the values it takes, ascending.
type Slider struct {
	Path   string   `json:"path"`
	Label  string   `json:"label"`
	Value  string   `json:"value"`
	Values []string `json:"values"`
	// Choice says that the values are words, without a scale.
	Choice bool `json:"choice,omitempty"`
	// Formula is what the literature says of it, and its value here; empty if it says nothing.
	Formula string `json:"formula,omitempty"`
}

// sliders are those of a scenario: all times of its faults, the settings that matter most, whether its file has them or not,
// and all times of what clients do. A file with several cases has none: a setting could be that of one or of all.
func sliders(q *Request) ([]Slider, error) {
	s, cases, _, err := read(q)
	if err != nil || len(cases) > 0 {
		return []Slider{}, err
	}
	f, err := variant.Of(s)
	if err != nil {
		return nil, err
	}
	values := f.Values()
	var goesWrong, isDone []Slider
	for i := range s.Timeline {
		if s.Timeline[i].Fault != nil {
			goesWrong = append(goesWrong, ofItem(s, i, values)...)
		} else {
			isDone = append(isDone, ofItem(s, i, values)...)
		}
	}
	all := slices.Concat(goesWrong, settings(s), isDone)
	formulas(s, all)
	return all, nil
}

// persistences are the words for them, in their order.
var persistences = []string{redis.NoPersistence: "none", redis.EverySecond: "every-second", redis.Always: "always",
	redis.Snapshots: "snapshots"}

// settings are the sliders of what a file says about the lock, the nodes and the network.
func settings(s *scenarios.Scenario) (all []Slider) {
	ttl := s.Lock.TTL
	all = append(all, duration("lock.ttl", "TTL", ttl, 3*ttl))
	if protocols.Has[protocols.DriftSettings](s.Lock) {
		all = append(all, duration("lock.drift.constant", "drift allowance, constant", protocols.Of[protocols.DriftSettings](s.Lock).Drift.Constant, ttl))
	}
	if s.Lock.Protocol == "redlock" {
		all = append(all, choice("lock.fencing", "fencing tokens", fmt.Sprint(protocols.Of[protocols.RedlockSettings](s.Lock).Fencing), "false", "true"))
	}
	all = append(all, choice("storage", "the resource checks", s.Storage.String(), storage.Register.String(), storage.Fenced.String()),
		choice("nodes.persistence", "nodes write to disk", persistences[s.Nodes.Persistence], persistences...))
	if n := len(s.Nodes.Names); n > 1 {
		var some []string
		for i := range 2*n + 1 {
			some = append(some, fmt.Sprint(i+1))
		}
		if slices.Equal(s.Nodes.Names, variant.NodeNames(n)) {
			all = append(all, Slider{Path: "nodes.count", Label: "nodes", Value: fmt.Sprint(n), Values: some})
		}
		if needed, votes := s.Lock.Votes(n); votes {
			all = append(all, Slider{Path: "lock.quorum", Label: "quorum", Value: fmt.Sprint(needed), Values: some[:n]})
		}
	}
	latency := s.Network.Latency.Max()
	return append(all, duration("network.latency", "network latency", latency, max(4*latency, ttl/100)))
}

// ofItem are the sliders of an item of the timeline: every duration in it.
func ofItem(s *scenarios.Scenario, i int, values []variant.Setting) (all []Slider) {
	item, who := &s.Timeline[i], fmt.Sprintf("step %d", i+1)
	if item.Fault != nil {
		who = strings.ReplaceAll(item.Kind, "-", " ")
	} else if item.Client != "" {
		who = item.Client
	}
	for _, v := range values {
		d, err := time.ParseDuration(v.Word)
		if !strings.HasPrefix(v.Path, fmt.Sprintf("timeline[%d].", i)) || err != nil || v.Word == "0" {
			continue
		}
		last := v.Path[strings.LastIndexByte(v.Path, '.')+1:]
		high := max(3*d, 2*s.Lock.TTL)
		if last == "at" {
			high = max(2*d, s.Lock.TTL)
		}
		all = append(all, duration(v.Path, who+": "+strings.ReplaceAll(last, "-", " "), d, high))
	}
	return all
}

// stops is about how many values a slider of a duration has.
const stops = 60

// duration is a slider from zero to about high, in steps of a round number, with the value that there is among them.
func duration(path, label string, value, high time.Duration) Slider {
	x := Slider{Path: path, Label: label, Value: value.String()}
	step := time.Nanosecond
	for _, round := range []time.Duration{1, 2, 5} {
		for unit := round; unit <= high; unit *= 10 {
			if unit >= high/stops && (step < high/stops || unit < step) {
				step = unit
			}
		}
	}
	var all []time.Duration
	for d := time.Duration(0); d <= high; d += step {
		all = append(all, d)
	}
	if at, found := slices.BinarySearch(all, value); !found {
		all = slices.Insert(all, at, value)
	}
	for _, d := range all {
		x.Values = append(x.Values, d.String())
	}
	return x
}

func choice(path, label, value string, values ...string) Slider {
	if !slices.Contains(values, value) {
		values = append(slices.Clone(values), value)
	}
	return Slider{Path: path, Label: label, Value: value, Values: values, Choice: true}
}

// formulas adds what the literature says of the settings.
func formulas(s *scenarios.Scenario, all []Slider) {
	at := &attacks.Settings{Scenario: s, Pause: s.Budget.Pause}
	for i := range all {
		path := all[i].Path
		if strings.HasSuffix(path, ".restart-after") {
			path = "budget.restart-delay"
		}
		for _, attack := range attacks.All() {
			for _, k := range attack.Knobs {
				if k.Path != path || k.Unit != variant.Nanoseconds || !k.Applies(at) {
					continue
				}
				if d := time.Duration(k.Formula(at).Ceil().IntPart()); d > 0 {
					all[i].Formula = fmt.Sprintf("at least %s, which is %s", rounded.Text(d.String()), k.Text)
				}
			}
		}
	}
}
