package shrink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

const head = `title: t
source: s
explanation: e
claim: holds
`

// asked is a question that needs no run.
func asked(is func(*scenarios.Scenario) bool) search.Question {
	return func(s *scenarios.Scenario) (history.History, error) {
		if !is(s) {
			return nil, nil
		}
		return history.History{}, nil
	}
}

// smallest is what such a question leaves of a file.
func smallest(t *testing.T, s *scenarios.Scenario, is func(*scenarios.Scenario) bool) *scenarios.Scenario {
	t.Helper()
	small, _, err := minimize(t.Context(), s, nil, asked(is), enough)
	if err != nil {
		t.Fatal(err)
	}
	return small
}

const tail = "expect: {findings: safe, unavailable: {at-most: 1s}}\n"

func parse(t *testing.T, file string) *scenarios.Scenario {
	t.Helper()
	found, err := scenarios.Parse("x.yaml", []byte(file))
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	return found[0]
}

// TestPasses: each pass takes out what a question, which needs no run, does not need.
func TestPasses(t *testing.T) {
	const start = head + `clients: [c1, c2, c3, c4]
lock: {ttl: 3s, quorum: 3, clock: wall}
network: {latency: {min: 1ms, p50: 2ms, max: 7ms}, replies: 3ms}
nodes: {replicas: {A: [A2, A3], C: [C2]}, persistence: always}
storage: fenced
budget: {clock-step: 5s}
timeline:
  - {at: 1234ms, client: c1, do: [lock: 5s, write, hold: 7654ms, update, unlock], repeat: 30}
  - {at: 17ms, client: c2, do: [try-lock, unlock], repeat: 20}
  - {after: {event: acquire-done, client: c1, node: B, nth: 9}, plus: 123ms, fault: {clock-step: {process: C, by: -8765ms}}}
  - {every: {event: acquire-done, nth: 3}, fault: {partition: {clients: [c1, c2, c3], nodes: [B, D, E], direction: requests, for: 3210ms}}}
  - {at: 5s, fault: {kill: {node: D, restart-after: 1234ms}}}
  - {at: 6s, fault: {clock-rate: {process: A, rate: -12.3456%}}}
  - {at: 7s, fault: {pause: {process: A2, for: 9s}}}
  - {at: 8s, fault: {failover: {node: C, replica: C2, after: 2s, restart-after: 4s}}}
duration: 1m23s
` + tail
	type question = func(*scenarios.Scenario) bool
	faultOf := func(s *scenarios.Scenario, kind string) faults.Fault {
		for _, item := range s.Timeline {
			if item.Kind == kind {
				return item.Fault
			}
		}
		return nil
	}
	program := func(s *scenarios.Scenario, client string) *scenarios.Item {
		for i := range s.Timeline {
			if s.Timeline[i].Client == client {
				return &s.Timeline[i]
			}
		}
		return &scenarios.Item{}
	}
	// What is left of what no question asks for: a client, which a file must have, the fewest nodes, and what is not touched.
	const rest = "nodes: {names: [A, B, C]}\nclients: [c1]\nnetwork: {latency: 0s}\nbudget: {clock-step: 5s}\n"
	for _, test := range []struct {
		name   string
		broken question
		want   []string // lines that are left
	}{
		{"nothing is needed", func(*scenarios.Scenario) bool { return true }, []string{"timeline: []", "duration: 1ms"}},
		{"a time to end", func(s *scenarios.Scenario) bool { return s.Duration > 34567*time.Millisecond }, []string{"duration: 40s"}},
		{"repeats", func(s *scenarios.Scenario) bool { return program(s, "c1").Repeat >= 17 }, []string{"do: [lock], repeat: 17}", "at: 0s"}},
		{"one pass, late", func(s *scenarios.Scenario) bool {
			p := program(s, "c1")
			return s.Duration >= time.Minute && (p.Repeat > 10 || p.Repeat == 1 && p.When.At > 4*time.Second)
		}, []string{"- {at: 5s, client: c1, do: [lock]}"}},
		{"a step and its lock", func(s *scenarios.Scenario) bool {
			return slices.ContainsFunc(program(s, "c1").Do, func(s scenarios.Step) bool { return s.Kind == scenarios.UnlockStep })
		}, []string{"do: [lock, unlock]}"}},
		{"the length of a step", func(s *scenarios.Scenario) bool {
			return slices.ContainsFunc(program(s, "c1").Do, func(s scenarios.Step) bool { return s.For > 1900*time.Millisecond && s.For < time.Minute })
		}, []string{"do: [{lock: 2s}]}"}},
		{"two clients", func(s *scenarios.Scenario) bool {
			return slices.Contains(s.Clients, "c1") && slices.Contains(s.Clients, "c3")
		},
			[]string{"clients: [c1, c3]", "timeline: []"}},
		{"four nodes", func(s *scenarios.Scenario) bool { return len(s.Nodes.Names) > 3 }, []string{"names: [A, B, C, D]"}},
		{"a quorum of three", func(s *scenarios.Scenario) bool { return protocols.Of[protocols.QuorumSettings](s.Lock).Quorum == 3 }, []string{"quorum: 3"}},
		{"a node", func(s *scenarios.Scenario) bool { return slices.Contains(s.Nodes.Names, "E") }, []string{"names: [A, B, E]"}},
		{"a replica", func(s *scenarios.Scenario) bool {
			return slices.Contains(s.Nodes.Names, "A") && len(s.Nodes.Replicas) > 0 && slices.Contains(s.Nodes.Replicas[0].Value, "A3")
		},
			[]string{"nodes: {names: [A, B, C], replicas: {A: [A3]}}"}},
		{"a large step", func(s *scenarios.Scenario) bool {
			f, ok := faultOf(s, "clock-step").(*faults.ClockStep)
			return ok && f.By < -6543*time.Millisecond
		}, []string{"- {after: {event: acquire-done}, fault: {clock-step: {process: C, by: -7s}}}"}},
		{"a step of one size", func(s *scenarios.Scenario) bool {
			f, ok := faultOf(s, "clock-step").(*faults.ClockStep)
			return ok && f.By < -6543*time.Millisecond && f.By > -6560*time.Millisecond || ok && f.By == -8765*time.Millisecond
		}, []string{"by: -8765ms"}},
		{"a late restart, which is milder", func(s *scenarios.Scenario) bool {
			f, ok := faultOf(s, "kill").(*faults.Kill)
			return ok && f.RestartAfter != nil && *f.RestartAfter < 5678*time.Millisecond && s.Duration >= 10*time.Second
		}, []string{"restart-after: 5s", "at: 0s", "duration: 10s"}},
		{"a node that dies and another one", func(s *scenarios.Scenario) bool {
			return faultOf(s, "failover") != nil || slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool {
				f, ok := i.Fault.(*faults.Kill)
				return ok && f.Node == "C"
			})
		}, []string{"- {at: 0s, fault: {kill: {node: C}}}"}},
		{"a replica that takes over", func(s *scenarios.Scenario) bool { return faultOf(s, "failover") != nil },
			[]string{"- {at: 0s, fault: {failover: {node: C, replica: C2, after: 2s}}}"}},
		{"the second event", func(s *scenarios.Scenario) bool {
			return slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool { return i.Kind == "partition" && i.When.After.Nth >= 2 })
		}, []string{"- {after: {event: acquire-done, nth: 2}, fault: {partition: {}}}"}},
		{"every event", func(s *scenarios.Scenario) bool {
			return slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool { return i.When.Every })
		}, []string{"- {every: {event: acquire-done}, fault: {partition: {}}}"}},
		{"a while after", func(s *scenarios.Scenario) bool {
			return slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool { return i.Kind == "clock-step" && i.When.Plus > 40*time.Millisecond })
		}, []string{"plus: 50ms"}},
		{"one direction of one link", func(s *scenarios.Scenario) bool {
			f, ok := faultOf(s, "partition").(*faults.Partition)
			return ok && f.Direction == network.Requests && slices.Contains(f.Nodes, "B") && slices.Contains(f.Clients, "c2") && f.For > 0
		}, []string{"clients: [c2]\n", "partition: {clients: [c2], nodes: [B], direction: requests, for: 1ms}"}},
		{"a rate", func(s *scenarios.Scenario) bool {
			f, ok := faultOf(s, "clock-rate").(*faults.ClockRate)
			return ok && f.Rate.PPB() < -15_000_000
		}, []string{"rate: -2%"}},
		{"a slow network", func(s *scenarios.Scenario) bool { return s.Network.Latency.Max() > 6*time.Millisecond }, []string{"network: {latency: 7ms}"}},
		{"replies that differ", func(s *scenarios.Scenario) bool { return s.Network.Replies != nil && s.Network.Replies.Max() > 0 },
			[]string{"network: {latency: 0s, replies: 3ms}"}},
		{"settings", func(s *scenarios.Scenario) bool {
			return s.Lock.Clock == kernel.WallClock && s.Storage == storage.Fenced && s.Nodes.Persistence == redis.Always
		}, []string{"clock: wall}", "storage: fenced", "persistence: always}"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			small := smallest(t, parse(t, start), test.broken)
			file := text(t, small)
			for _, want := range test.want {
				if !strings.Contains(file, want) {
					t.Errorf("no %q in\n%s", want, file)
				}
			}
			if test.name == "nothing is needed" && file != head+rest+strings.Join(test.want, "\n")+"\n"+tail {
				t.Errorf("left is\n%s", file)
			}
			if again := text(t, smallest(t, small, test.broken)); again != file {
				t.Errorf("a minimum shrinks from\n%s\nto\n%s", file, again)
			}
		})
	}
}

func TestShrinkStops(t *testing.T) {
	s := experiment.Arbitrary(3)
	shown, failed, long := history.History{}, errors.New("the library failed"), fmt.Errorf("a test: %w", kernel.ErrTooLong)
	ctx, cancel := context.WithCancel(t.Context())
	for name, test := range map[string]struct {
		ctx  context.Context
		ask  func(call int, x *scenarios.Scenario) (history.History, error)
		runs int
		want error
		made func(int) bool
	}{
		"one run":    {t.Context(), func(int, *scenarios.Scenario) (history.History, error) { return shown, nil }, 1, nil, func(n int) bool { return n == 1 }},
		"few runs":   {t.Context(), func(int, *scenarios.Scenario) (history.History, error) { return shown, nil }, 14, nil, func(n int) bool { return n <= 14 }},
		"not broken": {t.Context(), func(int, *scenarios.Scenario) (history.History, error) { return nil, nil }, enough, errNotBroken, func(n int) bool { return n == 1 }},
		"a run that fails": {t.Context(), func(call int, _ *scenarios.Scenario) (history.History, error) {
			if call > 5 {
				return nil, failed
			}
			return shown, nil
		}, enough, failed, func(n int) bool { return n == 6 }},
		"simpler runs are too long": {t.Context(), func(_ int, x *scenarios.Scenario) (history.History, error) {
			if len(x.Timeline) < len(s.Timeline) {
				return nil, long
			}
			return shown, nil
		}, 100, nil, func(n int) bool { return n > 1 }},
		"a context that ends": {ctx, func(int, *scenarios.Scenario) (history.History, error) {
			cancel()
			return shown, nil
		}, enough, context.Canceled, func(n int) bool { return n == 1 }},
	} {
		calls := 0
		small, made, err := minimize(test.ctx, s, nil, func(x *scenarios.Scenario) (history.History, error) {
			calls++
			return test.ask(calls, x)
		}, test.runs)
		if !errors.Is(err, test.want) || made != calls || !test.made(made) || (small == nil) != (test.want == errNotBroken) {
			t.Errorf("%s: %v after %d of %d runs", name, err, made, calls)
		}
	}
	wrong := *s
	wrong.Clients = nil
	if _, _, err := minimize(t.Context(), &wrong, nil, asked(func(*scenarios.Scenario) bool { return true }), enough); err == nil {
		t.Error("a scenario without clients is shrunk")
	}
}

// What a step says of its call is taken out key by key, and goroutines one after the other, as far as they do not matter.
func TestCallsShrink(t *testing.T) {
	start := parse(t, head+`clients: [c1, c2]
timeline:
  - {at: 0s, client: c1, do: [lock: {ttl: 1234ms, cancel: 2345ms}, extend: {for: 3456ms, within: 4567ms, lease-context: true}, unlock, unlock: {released: true}], goroutines: 5}
  - {at: 1s, client: c2, do: [with-lock: {for: 5s, wait: 6s, period: 1s, limit: 7, max-time: 8s}]}
`+tail)
	find := func(s *scenarios.Scenario, is func(*scenarios.Step) bool) bool {
		return slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool {
			return slices.ContainsFunc(i.Do, func(s scenarios.Step) bool { return is(&s) })
		})
	}
	for _, test := range []struct {
		name   string
		broken func(*scenarios.Scenario) bool
		want   string
	}{
		{"a TTL", func(s *scenarios.Scenario) bool {
			return find(s, func(s *scenarios.Step) bool { return s.TTL > 1100*time.Millisecond })
		}, "{ttl: 2s}"},
		{"a cancellation", func(s *scenarios.Scenario) bool {
			return find(s, func(s *scenarios.Step) bool { return s.Cancel != nil })
		}, "{cancel: 0s}"},
		{"a deadline", func(s *scenarios.Scenario) bool {
			return find(s, func(s *scenarios.Step) bool { return s.Within != nil && *s.Within > time.Second })
		}, "within: 2s}"},
		{"a second release", func(s *scenarios.Scenario) bool {
			return find(s, func(s *scenarios.Step) bool { return s.Released })
		}, "{released: true}"},
		{"a limit", func(s *scenarios.Scenario) bool { return find(s, func(s *scenarios.Step) bool { return s.Limit > 2 }) }, "limit: 3}"},
		{"three goroutines", func(s *scenarios.Scenario) bool {
			return slices.ContainsFunc(s.Timeline, func(i scenarios.Item) bool { return i.Goroutines >= 3 })
		}, "goroutines: 3"},
	} {
		got := text(t, smallest(t, start, test.broken))
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: no %q in\n%s", test.name, test.want, got)
		}
		for _, other := range []string{"ttl", "cancel", "within", "released", "limit", "period", "max-time", "wait", "lease-context", "goroutines"} {
			if strings.Contains(got, other+":") && !strings.Contains(test.want, other+":") {
				t.Errorf("%s needs no %s:\n%s", test.name, other, got)
			}
		}
	}
}
