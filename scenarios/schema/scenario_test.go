package schema_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios"
	"redlocksim/search/experiment"
)

// compiled is a schema as another implementation of JSON Schema reads it.
func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value is YAML as an editor's JSON Schema sees it.
func value(t *testing.T, text []byte) any {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		t.Fatal(err)
	}
	return plain(t, n.Content[0])
}

func plain(t *testing.T, n *yaml.Node) any {
	switch {
	case n.Kind == yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(t, n.Content[i+1])
		}
		return m
	case n.Kind == yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			list = append(list, plain(t, item))
		}
		return list
	case n.Tag == "!!null":
		return nil
	case n.Tag == "!!bool":
		return n.Value == "true"
	case n.Tag == "!!int" || n.Tag == "!!float":
		f, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	return n.Value
}

// Every file that is embedded fits the schema, and so does each of its cases, written out.
func TestScenariosFit(t *testing.T) {
	s := compiled(t, text(t, made(t)))
	files, err := filepath.Glob("../files/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value(t, text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, one := range scenarios.Catalogue() {
		text, err := one.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value(t, text)); err != nil {
			t.Errorf("%s, written out: %v", one.Name, err)
		}
	}
}

// So does what a search draws, with all kinds of faults in it.
func TestDrawnScenariosFit(t *testing.T) {
	s := compiled(t, text(t, made(t)))
	base, err := scenarios.ParseSettings("base.yaml", []byte("lock: {guard: {max-ttl: 10s}, fencing: true}"))
	if err != nil {
		t.Fatal(err)
	}
	space := experiment.NewSpace(base)
	space.Beyond = true
	kinds := map[string]bool{}
	for seed := range uint64(300) {
		drawn := experiment.Candidate{Seed: seed}.Scenario(space)
		text, err := drawn.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(value(t, text)); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, text)
		}
		for i := range drawn.Timeline {
			kinds[drawn.Timeline[i].Kind] = true
		}
	}
	if len(kinds) < 10 {
		t.Errorf("only faults of the kinds %v were drawn", kinds)
	}
}

const whole = `title: our settings and a quick restart
source: ourselves
explanation: the holder has A, B and C; C is killed and comes back empty after a second
claim: holds
clients: [client-1, client-2]
lock: {ttl: 2s, node-timeout: 20ms}
network: {latency: {min: 1ms, p99.9: 2ms, max: 5ms}}
timeline:
  - {at: 0s, client: client-1, do: [try-lock, hold: 5s, unlock]}
  - {after: {client: client-1, event: acquire-done}, fault: {kill: {node: C, restart-after: 1s}}}
expect: {findings: safe, unavailable: {at-most: 2200ms}}
`

const cased = `title: our settings
source: ourselves
explanation: a base and two cases
claim: holds
clients: [client-1, client-2]
nodes: {persistence: always}
timeline:
  - {at: 0s, client: client-1, do: [lock, hold: 5s, unlock]}
expect: {unavailable: unbounded}
cases:
  one: {expect: {findings: safe}, nodes: {persistence: null}}
  another: {expect: {findings: [lease-overlap]}}
`

// What the decoder takes the schema takes, and what is broken in one of these ways neither of them does.
func TestBrokenScenariosDoNotFit(t *testing.T) {
	s := compiled(t, text(t, made(t)))
	for name, c := range map[string]struct {
		text, old, new string
		fits           bool
	}{
		"as it is":                      {text: whole, fits: true},
		"cases":                         {text: cased, fits: true},
		"a key spelt wrong":             {text: whole, old: "node-timeout", new: "node-timout"},
		"a key missing":                 {text: whole, old: "claim: holds\n"},
		"a key missing further down":    {text: whole, old: "findings: safe, "},
		"a word spelt wrong":            {text: whole, old: "claim: holds", new: "claim: hold"},
		"a number for text":             {text: whole, old: "ourselves", new: "7"},
		"a duration without a unit":     {text: whole, old: "ttl: 2s", new: "ttl: 2"},
		"a unit there is not":           {text: whole, old: "ttl: 2s", new: "ttl: 2 sec"},
		"text for a list":               {text: whole, old: "[client-1, client-2]", new: "client-1"},
		"a preset there is not":         {text: whole, old: "ttl: 2s", new: "preset: redlock-java"},
		"a step there is not":           {text: whole, old: "unlock", new: "release"},
		"a step without its length":     {text: whole, old: "hold: 5s", new: "hold"},
		"a length too many":             {text: whole, old: "unlock", new: "unlock: 5s"},
		"two steps in one":              {text: whole, old: "hold: 5s", new: "{hold: 5s, sleep: 5s}"},
		"a fault there is not":          {text: whole, old: "kill:", new: "murder:"},
		"two faults in one":             {text: whole, old: "fault: {", new: "fault: {crash: {client: client-1}, "},
		"a fault's key spelt wrong":     {text: whole, old: "restart-after", new: "restart"},
		"an event there is not":         {text: whole, old: "acquire-done", new: "acquired"},
		"an item without a moment":      {text: whole, old: "{at: 0s, ", new: "{"},
		"an item with two moments":      {text: whole, old: "{at: 0s, ", new: "{at: 0s, after: {event: kill}, "},
		"an item without a client":      {text: whole, old: "client: client-1, do", new: "do"},
		"a client and a fault":          {text: whole, old: "fault: {kill", new: "client: client-1, do: [lock], fault: {kill"},
		"a latency without an end":      {text: whole, old: ", max: 5ms", new: ""},
		"a finding there is not":        {text: whole, old: "findings: safe", new: "findings: overlap"},
		"no finding":                    {text: whole, old: "findings: safe", new: "findings: []"},
		"neither bounds nor unbounded":  {text: whole, old: "{at-most: 2200ms}", new: "never"},
		"a null":                        {text: whole, old: "claim: holds", new: "claim: null"},
		"a repetition out of bounds":    {text: whole, old: "{at: 0s, ", new: "{at: 0s, repeat: 0, "},
		"goroutines out of bounds":      {text: whole, old: "{at: 0s, ", new: "{at: 0s, goroutines: 10001, "},
		"a case's name":                 {text: cased, old: "another:", new: "Another One:"},
		"a case with a key spelt wrong": {text: cased, old: "{expect: {findings: [lease", new: "{expects: {findings: [lease"},
		"no cases":                      {text: cased[:strings.Index(cased, "  one:")], old: "cases:", new: "cases: {}"},
	} {
		text := c.text
		if !c.fits {
			if text = strings.Replace(text, c.old, c.new, 1); text == c.text {
				t.Fatalf("%s: nothing is broken", name)
			}
		}
		_, err := scenarios.Parse("f.yaml", []byte(text))
		if (err == nil) != c.fits {
			t.Errorf("%s: the decoder says %v", name, err)
		}
		if err := s.Validate(value(t, []byte(text))); (err == nil) != c.fits {
			t.Errorf("%s: the schema says %v", name, err)
		}
	}
}
