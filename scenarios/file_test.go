package scenarios

import (
	"flag"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/shopspring/decimal"
	"go.yaml.in/yaml/v3"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// Drawn draws random experiments. Package search/experiment sets it, which this package cannot import.
var Drawn func(seed uint64) *Scenario

// Random is how many random experiments the tests with random experiments make, more of what is quick and fewer of what is
// slow.
var Random = flag.Int("random", 120, "how many random experiments a test makes")

// differ says in what two values differ. Equal numbers may be written differently, lists that are nil and that are empty mean
// the same, as do no latency and one of zero, nobody repeats a fault, and where something stood in its file does not count.
func differ(a, b any) string {
	return cmp.Diff(a, b, cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(&yaml.Node{}),
		cmp.Comparer(func(a, b faults.Rate) bool { return a.Ratio().Equal(b.Ratio()) }),
		cmp.Transformer("given", func(l network.Latency) []network.Quantile {
			if len(l.Points) == 0 {
				l = network.Constant(0)
			}
			return l.Points
		}),
		cmp.FilterValues(func(a, b Item) bool { return a.Fault != nil && b.Fault != nil && a.Repeat != b.Repeat },
			cmp.Transformer("once", func(i Item) Item { i.Repeat = 0; return i })))
}

// again encodes a scenario and parses that.
func again(t *testing.T, s *Scenario) (*Scenario, []byte) {
	t.Helper()
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	found, err := Parse(s.Name+".yaml", data)
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Name, err, data)
	}
	found[0].Name = s.Name
	return found[0], data
}

// TestEncodedScenariosAreTheSame: the catalogue and random experiments come back the same, and run the same.
func TestEncodedScenariosAreTheSame(t *testing.T) {
	all := slices.Clone(Catalogue())
	count := uint64(7 * *Random)
	if testing.Short() {
		count = 100
	}
	for seed := range count {
		all = append(all, Drawn(seed))
	}
	for i, s := range all {
		back, data := again(t, s)
		back.Topic = s.Topic // a case becomes a file of its own
		if d := differ(*s, *back); d != "" {
			t.Errorf("%s: %s", s.Name, d)
		}
		if twice, err := back.Encode(); err != nil || string(twice) != string(data) {
			t.Errorf("%s is encoded as\n%s\nand then, %v, as\n%s", s.Name, data, err, twice)
		}
		if i%20 != 0 {
			continue
		}
		var hashes []string
		for _, x := range []*Scenario{s, back} {
			out, err := Run(x, Options{Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, out.HistoryHash+" "+out.TraceHash)
		}
		if hashes[0] != hashes[1] {
			t.Errorf("%s runs differently once it is encoded and parsed", s.Name)
		}
	}
}

// TestEncodedScenariosCanBeRead: a scenario is written as people write them.
func TestEncodedScenariosCanBeRead(t *testing.T) {
	all := Catalogue()
	s := all[slices.IndexFunc(all, func(s *Scenario) bool { return s.Name == "17-clock-jump" })]
	const want = `title: a node's clock jumps past the expiry while the lock is held
theme: clocks
source: Kleppmann 2016, How to do distributed locking, "Breaking Redlock with bad timings"
explanation: >
  Client 1 holds the lock on A, B and C. C's wall clock jumps forward, and C considers the key expired. Client 2 is
  granted the lock on C, D and E while client 1 still believes that it holds it. Redis measures expiry by the wall
  clock, and Redlock assumes that clocks do not jump.
claim: holds
clients: [client-1, client-2]
timeline:
  - {at: 0s, fault: {partition: {clients: [client-1], nodes: [D, E], direction: requests}}}
  - {at: 0s, client: client-1, do: [try-lock, {hold: 8s}, unlock]}
  - {after: {event: acquire-done, client: client-1}, plus: 1s, fault: {clock-step: {process: C, by: 10s}}}
  - {after: {event: clock-step}, plus: 100ms, client: client-2, do: [try-lock, {hold: 2s}, unlock]}
duration: 30s
expect:
  findings: lease-overlap
  unavailable: {at-most: 50ms}
  reached: [{event: clock-step, node: C, believing: client-1}, {event: acquire-called, client: client-2, believing: client-1, after: {event: clock-step, node: C}}]
  grants: {client-1: 1, client-2: 1}
`
	if _, data := again(t, s); string(data) != want {
		t.Errorf("got\n%s\nwant\n%s", data, want)
	}
}

// leaves calls f for every field of a struct that a file has a key for, and for those of its parts. Pointers are set.
func leaves(v reflect.Value, path string, f func(path string, leaf reflect.Value)) {
	switch v.Interface().(type) {
	case strictyaml.Marshaler, time.Duration:
		f(path, v)
		return
	}
	if strictyaml.WordsOf(v.Type()) != nil {
		f(path, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			tag, ok := v.Type().Field(i).Tag.Lookup("yaml")
			if ok {
				leaves(v.Field(i), path+"."+tag, f)
			}
		}
	case reflect.Pointer:
		was := v.Interface()
		v.Set(reflect.New(v.Type().Elem()))
		leaves(v.Elem(), path, f)
		v.Set(reflect.ValueOf(was))
	default:
		f(path, v)
	}
}

// change gives a leaf another value, one that files can have.
func change(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *faults.Rate:
		*x = faults.RateOf(decimal.New(123456789, -10))
		return
	case *[]string:
		*x = append(*x, "A", "b c")
		return
	case *string:
		*x += "1"
		return
	}
	if words := strictyaml.WordsOf(v.Type()); words != nil {
		was := v.Interface()
		for _, word := range words {
			if err := strictyaml.DecodeNode(path, strictyaml.Text(word), v.Addr().Interface()); err != nil {
				t.Fatal(err)
			}
			if v.Interface() != was {
				return
			}
		}
		t.Fatalf("%s has one value only", path)
	}
	switch {
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanInt():
		v.SetInt(v.Int() + 1_234_567)
	case v.CanUint():
		v.SetUint(v.Uint() + 7)
	default:
		t.Fatalf("%s: how is a %v changed?", path, v.Type())
	}
}

// TestEveryKnobOfEveryFaultIsEncoded: also those of faults that are yet to be added.
func TestEveryKnobOfEveryFaultIsEncoded(t *testing.T) {
	for _, w := range faults.Vocabulary() {
		body := w.New()
		fields := reflect.ValueOf(body).Elem()
		for i := range fields.NumField() {
			if f := fields.Field(i); fields.Type().Field(i).Tag.Get("range") != "" && f.CanInt() {
				f.SetInt(1) // some cannot be zero
			}
		}
		leaves(fields, w.Name, func(path string, leaf reflect.Value) {
			change(t, path, leaf)
			// An item is decoded without the checks that need a scenario around it.
			type holder struct {
				Items []Item `yaml:"items"`
			}
			x := holder{[]Item{{When: faults.Trigger{After: &faults.Moment{Event: "e", Client: "c", Node: "n", Nth: 4, Lead: 6}, Every: true, Plus: 5}, Repeat: 1, Kind: w.Name, Fault: body}}}
			data, err := strictyaml.Encode(x, holder{})
			if err != nil {
				t.Fatal(err)
			}
			var back holder
			if err := strictyaml.Decode("x", data, &back); err != nil {
				t.Fatalf("%s: %v\n%s", path, err, data)
			}
			if d := differ(x, back); d != "" {
				t.Errorf("%s: %s\n%s", path, d, data)
			}
		})
		if _, err := strictyaml.Encode(body, w.New()); err != nil { // looks at the types of all fields
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

// allSettings are the parts of a scenario file that have settings.
type allSettings struct {
	Lock    protocols.Settings `yaml:"lock"`
	Budget  faults.Budget      `yaml:"budget"`
	Storage storage.Kind       `yaml:"storage"`
	Nodes   Nodes              `yaml:"nodes"`
	Network Network            `yaml:"network"`
	Expect  Expect             `yaml:"expect"`
}

func defaultSettings() allSettings {
	s := Default()
	return allSettings{s.Lock, s.Budget, s.Storage, s.Nodes, s.Network, s.Expect}
}

// comesBack checks that settings are the same once they are encoded and decoded, of which the one at path was changed.
func (x allSettings) comesBack(t *testing.T, path string) {
	t.Helper()
	switch path {
	case ".lock.preset":
		if err := strictyaml.Decode("x", fmt.Appendf(nil, "{preset: %s}", x.Lock.Preset), &x.Lock); err != nil {
			t.Fatal(err)
		}
	case ".lock.protocol":
		x.Lock = defaultSettings().Lock.With(x.Lock.Protocol)
	}
	data, err := strictyaml.Encode(x, defaultSettings())
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	back := defaultSettings()
	if err := strictyaml.Decode("x", data, &back); err != nil {
		t.Errorf("%s: %v\n%s", path, err, data)
	} else if d := differ(x, back); d != "" {
		t.Errorf("%s: %s\n%s", path, d, data)
	}
}

// TestEverySettingOfEveryProtocolIsEncoded: each with another value than its protocol has by default.
func TestEverySettingOfEveryProtocolIsEncoded(t *testing.T) {
	n := 0
	for _, p := range protocols.All() {
		x := defaultSettings()
		x.Lock = x.Lock.With(p.Name)
		protocols.Change(&x.Lock, func(own *protocols.Own) {
			changed := reflect.New(reflect.TypeOf(*own)).Elem()
			changed.Set(reflect.ValueOf(*own))
			leaves(changed, string(p.Name), func(path string, leaf reflect.Value) {
				was := reflect.New(leaf.Type()).Elem()
				was.Set(leaf)
				change(t, path, leaf)
				*own = changed.Interface().(protocols.Own)
				x.comesBack(t, path)
				leaf.Set(was)
				n++
			})
		})
	}
	if n < 60 {
		t.Errorf("%d settings of protocols were changed, there were more", n)
	}
}

// TestEverySettingIsEncoded: each with other values than Default has.
func TestEverySettingIsEncoded(t *testing.T) {
	x := defaultSettings()
	leaves(reflect.ValueOf(&x).Elem(), "", func(path string, leaf reflect.Value) {
		was := reflect.New(leaf.Type()).Elem()
		was.Set(leaf)
		switch v := leaf.Addr().Interface().(type) {
		case *strictyaml.Ordered[[]string]:
			*v = strictyaml.Ordered[[]string]{{Key: "B", Value: []string{"B2"}}, {Key: "A"}}
		case *strictyaml.Ordered[ExpectOn]:
			for _, on := range []ExpectOn{{}, {Findings: Findings{kinds()[0]}}, {Unavailable: &Bounds{1, 2}}, {Waits: Waits{Takeover: &Bounds{1, 2}}}, {Waits: Waits{Attempts: &CountBounds{1, 2}}},
				{Waits: Waits{Bypass: &CountBounds{1, 2}}}, {Waits: Waits{Overtakes: &CountBounds{1, 2}}}, {Waits: Waits{AfterHealing: &Bounds{1, 2}}}} {
				*v = strictyaml.Ordered[ExpectOn]{{Key: "b", Value: on}, {Key: "a"}}
				x.comesBack(t, path)
			}
		case *[]Reached:
			*v = []Reached{{Moment: faults.Moment{Event: "e", Client: "c", Node: "n", Nth: 4}, Believing: "a", Past: "b",
				After: &faults.Moment{Event: "f"}, Before: &faults.Moment{Event: "g", Nth: 2}}}
		case *strictyaml.Ordered[redis.Software]:
			*v = strictyaml.Ordered[redis.Software]{{Key: "B", Value: redis.Valkey91}, {Key: "A", Value: redis.Redis80}}
		case *strictyaml.Ordered[int]:
			*v = strictyaml.Ordered[int]{{Key: "z", Value: 2}, {Key: "a"}}
		case *Findings:
			for _, kind := range kinds() {
				*v = append(*v, kind)
				x.comesBack(t, path)
			}
		case *[]network.Quantile:
			return // see TestLatenciesAreEncoded
		default:
			change(t, path, leaf)
		}
		x.comesBack(t, path)
		leaf.Set(was)
	})
}

func TestLatenciesAreEncoded(t *testing.T) {
	for _, points := range [][]network.Quantile{
		nil, {{Share: 0, At: 0}, {Share: network.Million, At: 0}}, {{Share: 0, At: 7}, {Share: network.Million, At: 7}}, {{Share: 0, At: 1}, {Share: network.Million, At: 2}},
		{{Share: 0, At: 1}, {Share: 500_000, At: 2}, {Share: 900_000, At: 3}, {Share: 990_000, At: 3}, {Share: 999_000, At: 5}, {Share: network.Million, At: 6}}, {{Share: 0, At: 1}, {Share: 990_000, At: 1}, {Share: network.Million, At: 6}},
	} {
		x := defaultSettings()
		x.Network.Latency.Points = points
		x.Network.Replies = &Latency{network.Latency{Points: points}}
		x.comesBack(t, "latency")
	}
}

func TestWhatNoFileSaysIsNotEncoded(t *testing.T) {
	for what, spoil := range map[string]func(*Scenario){
		"a latency with other quantiles": func(s *Scenario) {
			s.Network.Latency.Points = []network.Quantile{{Share: 0, At: 1}, {Share: 7, At: 2}, {Share: network.Million, At: 3}}
		},
		"a falling latency":        func(s *Scenario) { s.Network.Latency = Latency{network.Uniform(2, 1)} },
		"an unknown fault":         func(s *Scenario) { s.Timeline[0].Kind = "flood" },
		"an unknown finding":       func(s *Scenario) { s.Expect.Findings = Findings{checker.NotTested} },
		"a rate with many digits":  func(s *Scenario) { s.Budget.ClockRate = faults.RateOf(decimal.New(1, -30)) },
		"an unknown claim":         func(s *Scenario) { s.Claim = "perhaps" },
		"a word that is not there": func(s *Scenario) { s.Nodes.Persistence = 77 },
	} {
		s := *Catalogue()[slices.IndexFunc(Catalogue(), func(s *Scenario) bool { return s.Timeline[0].Fault != nil })]
		s.Timeline = slices.Clone(s.Timeline)
		spoil(&s)
		if data, err := s.Encode(); err == nil {
			t.Errorf("%s is encoded as\n%s", what, data)
		}
	}
}
