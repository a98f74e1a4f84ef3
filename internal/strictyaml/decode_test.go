package strictyaml_test

import (
	"errors"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

var update = flag.Bool("update", false, "rewrite the errors in testdata/bad.txt")

// Each part of bad.txt is a name, a document, and the errors that it must give.
func TestBadDocuments(t *testing.T) {
	const name = "testdata/bad.txt"
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	comment, parts, _ := strings.Cut(string(whole), "\n=== ")
	rewritten := comment
	for part := range strings.SplitSeq(parts, "\n=== ") {
		title, rest, _ := strings.Cut(part, "\n")
		document, want, ok := strings.Cut(rest, "----\n")
		if !ok {
			t.Fatalf("%s: no ---- after the document", title)
		}
		t.Run(title, func(t *testing.T) {
			var e experiment
			err := strictyaml.Decode("f", []byte(document), &e)
			if err == nil {
				t.Fatal("no error")
			}
			got := err.Error() + "\n"
			rewritten += "\n=== " + title + "\n" + document + "----\n" + got
			if got != want && !*update {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
	if *update {
		if err := os.WriteFile(name, []byte(rewritten), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What a text file cannot hold, or not legibly.
func TestBadBytes(t *testing.T) {
	const oneByteMore = strictyaml.MaxBytes + 1
	for _, c := range []struct{ name, data, want string }{
		{"empty", "", `f:1:1: the file is empty`},
		{"NUL", "name: a\nseed: \x00", `f:2:7: byte 0x00 is not text in UTF-8`},
		{"not UTF-8", "é: \xff", `f:1:4: byte 0xff is not text in UTF-8`},
		{"UTF-16", "\xfe\xff\x00a", `f:1:1: byte 0xfe is not text in UTF-8`},
		{"C1 control", "a: \u009b2J", `f:1:4: byte 0xc2 is not text in UTF-8`},
		{"too large", strings.Repeat(" ", oneByteMore), `f:1:1: the file is larger than 1048576 bytes`},
		{"deeper than the parser allows", strings.Repeat("[", 20000),
			`f:1:10001: not YAML: exceeded max depth of 10000 "` + strings.Repeat("[", 60) + `..."`},
		{"long word", "name: x\nttl: '" + strings.Repeat("é", 100) + "'",
			`f:2:6: ttl: not a duration of up to 292 years, as 10s or 1m30s (units are ns, us, ms, s, m, h): "` + strings.Repeat("é", 60) + `..."`},
		{"CRLF", "name: x\r\nttl: 10\r\nx y", `f:3:1: not YAML: could not find expected ':' "x y"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var e experiment
			if err := strictyaml.Decode("f", []byte(c.data), &e); err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestLargestFile(t *testing.T) {
	data := append([]byte("name: x\n"), strings.Repeat("#", strictyaml.MaxBytes-len("name: x\n"))...)
	var e experiment
	if err := strictyaml.Decode("f", data, &e); err != nil || e.Name != "x" {
		t.Errorf("got %q, %v", e.Name, err)
	}
}

func TestGoodDocument(t *testing.T) {
	const document = `
name: "5"
seed: -1_000_000
rounds: 255
skew: -128
quick: true
ttl: 1m30.5s
kind: pause
even: 12
clock: {drift: fast, delay: -10ms}
nodes:
  - name: a
  - {name: b, port: +65535}
leader: b
links: {z: 1s, a: 2us}
cases:
  zebra:
    {drift: z}
  ant: {drift: a}
steps: [unlock, hold: 5s, crash: b]
tree: {sub: [{sub: []}, {}]}
times: 9
later: [0, 255]
max_steps: 9223372036854775807
`
	want := experiment{
		Name: "5", Seed: -1_000_000, Rounds: 255, Skew: -128, Quick: true,
		TTL: 90*time.Second + 500*time.Millisecond, Kind: "pause", Even: 2,
		Clock:  &clock{Drift: "fast", Delay: -10 * time.Millisecond},
		Nodes:  []node{{Name: "a"}, {Name: "b", Port: 65535}},
		Leader: "b",
		Links: strictyaml.Ordered[time.Duration]{
			{Key: "z", Value: time.Second}, {Key: "a", Value: 2 * time.Microsecond},
		},
		Cases: strictyaml.Ordered[clock]{
			{Key: "zebra", Value: clock{Drift: "z"}},
			{Key: "ant", Value: clock{Drift: "a"}},
		},
		Steps:  []step{{Unlock: true}, {Hold: 5 * time.Second}, {Crash: "b"}},
		Tree:   tree{Sub: []tree{{Sub: []tree{}}, {}}},
		Times:  9,
		Later:  yamlBytes{0, 255},
		limits: limits{MaxSteps: 1<<63 - 1},
	}
	var got experiment
	if err := strictyaml.Decode("f", []byte(document), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestDeepestDocument(t *testing.T) {
	// The root, and 31 times a mapping and a list, are 63 levels.
	data := "name: x\ntree: " + strings.Repeat("{sub: [", 31) + "{}" + strings.Repeat("]}", 31)
	if err := strictyaml.Decode("f", []byte(data), &experiment{}); err != nil {
		t.Error(err)
	}
}

func TestAbsentKeysLeaveDefaults(t *testing.T) {
	e := experiment{TTL: time.Second, Clock: &clock{Delay: time.Hour}, Seed: 7}
	err := strictyaml.Decode("f", []byte("name: x\nseed: 8\nclock: {drift: a}"), &e)
	if err != nil {
		t.Fatal(err)
	}
	if e.TTL != time.Second || e.Clock.Delay != time.Hour || e.Seed != 8 {
		t.Errorf("got %+v", e)
	}
}

func TestErrorsMatch(t *testing.T) {
	err := strictyaml.Decode("f", []byte("name: x\neven: 3\nkind: crsah"), &experiment{})
	var all strictyaml.Errors
	if !errors.As(err, &all) || len(all) != 2 {
		t.Fatalf("got %#v", err)
	}
	if !errors.Is(err, errOdd) {
		t.Error("the Unmarshaler's own error is lost")
	}
	var invalid *strictyaml.Invalid
	if !errors.As(err, &invalid) || invalid.Error() != `no such kind "crsah"` {
		t.Errorf("Invalid is lost: %v", invalid)
	}
	if got := *all[1]; got.File != "f" || got.Line != 3 || got.Column != 7 || got.Path != "kind" || got.Word != "crsah" || got.Msg != "no such kind" {
		t.Errorf("got %+v", got)
	}
}

func TestErrorsAfterDecoding(t *testing.T) {
	var errs strictyaml.Errors
	if errs.Err() != nil {
		t.Error("no faults are an error")
	}
	errs = append(errs,
		strictyaml.Errorf("b", 1, 1, "", nil, "fourth"),
		strictyaml.Errorf("a", 2, 1, "", nil, "third"),
		strictyaml.Errorf("a", 1, 9, "nod3", []string{"node1", "node"}, "no %s", "such\nnode"),
		strictyaml.Errorf("a", 1, 8, "x", []string{"node 1", "node-2"}, "no such node"),
		strictyaml.Errorf("a", 0, 0, "", nil, "no position"),
	)
	want := `a: no position
a:1:8: no such node "x"; valid: "node 1", node-2
a:1:9: no such node "nod3"; did you mean "node"?
a:2:1: third
b:1:1: fourth`
	if got := errs.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if errs[0].Msg != "fourth" {
		t.Error("sorted in place")
	}
}

// An included type decodes a base once for each case, and asks whether it went
// well.
type withCases struct {
	Decoded []experiment
	Right   []bool
}

func (w *withCases) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	for _, patch := range n.Content[3].Content {
		var e experiment
		w.Right = append(w.Right, d.Decode(strictyaml.Merge(n.Content[1], patch), &e))
		w.Decoded = append(w.Decoded, e)
	}
}

func TestCasesShareErrorsOfTheBase(t *testing.T) {
	const document = `
run:
  base: {name: x, ttl: 10, leader: l, clock: {drift: a}}
  cases:
  - {seed: 1}
  - {seed: x, ttl: 1s}
  - {seed: 3, ttl: 1s, clock: {drfit: b}}
  - {seed: 4, ttl: 1s, clock: {drift: b}}
  - {seed: 5, ttl: 1s, name: null}
`
	const want = `f:3:9: run: missing key "name"
f:3:24: run.base.ttl: a duration needs a unit (ns, us, ms, s, m, h): "10"; did you mean "10s"?
f:6:12: run.cases[1].seed: want a whole number, got text "x"
f:7:32: run.cases[2].clock: unknown key "drfit"; did you mean "drift"?`
	var w struct {
		Run withCases `yaml:"run"`
	}
	if err := strictyaml.Decode("f", []byte(document), &w); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if !reflect.DeepEqual(w.Run.Right, []bool{false, false, false, true, false}) {
		t.Errorf("right %v", w.Run.Right)
	}
	if w.Run.Decoded[3].Clock.Drift != "b" || w.Run.Decoded[2].Seed != 3 {
		t.Errorf("decoded %+v", w.Run.Decoded)
	}
}

// A hopeless list complains of its last item first.
type hopeless struct{}

func (hopeless) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	for i := len(n.Content) - 1; i >= 0; i-- {
		d.Errorf(n.Content[i], "", nil, "hopeless")
	}
}

func TestErrorsCollectedAreBounded(t *testing.T) {
	err := strictyaml.Decode("f", []byte(strings.Repeat("- 0\n", 1500)), &hopeless{})
	var all strictyaml.Errors
	if !errors.As(err, &all) || len(all) != 21 || all[0].Line != 501 {
		t.Errorf("got %v", err)
	}
}

func TestDecodeNode(t *testing.T) {
	document := parse(t, "cases:\n  a: {name: x, seed: y}\n  b: {name: z}\n")
	cases := document.Content[0].Content[1]
	var e experiment
	err := strictyaml.DecodeNode("f", cases.Content[1], &e)
	if want := `f:2:22: seed: want a whole number, got text "y"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := strictyaml.DecodeNode("f", cases.Content[3], &e); err != nil || e.Name != "z" {
		t.Errorf("got %v, %+v", err, e)
	}
	if err := strictyaml.DecodeNode("f", document, &struct {
		Cases strictyaml.Ordered[experiment] `yaml:"cases"`
	}{}); err == nil || !strings.Contains(err.Error(), "f:2:22: cases.a.seed") {
		t.Errorf("of a whole document: %v", err)
	}
	for _, n := range []*yaml.Node{nil, {}, {Kind: yaml.DocumentNode}} {
		if err := strictyaml.DecodeNode("f", n, &e); err == nil {
			t.Errorf("%v is not empty", n)
		}
	}
}

func TestMistakesInTheProgramPanic(t *testing.T) {
	for want, into := range map[string]any{
		"cannot decode into float64": &struct {
			A float64 `yaml:"a"`
		}{},
		"cannot decode into float32": &struct {
			A strictyaml.Ordered[[]float32] `yaml:"a"`
		}{},
		`not "a,omitempty"`: &struct {
			A int `yaml:"a,omitempty"`
		}{},
		`a second field named "max_steps"`: &struct {
			A      int `yaml:"max_steps"`
			limits `yaml:",inline"`
		}{},
		"the range of A": &struct {
			A int `yaml:"a" range:"1s.."`
		}{},
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			_ = strictyaml.Decode("f", []byte("a: {b: [1]}"), into)
		}()
	}
}

func parse(t testing.TB, document string) *yaml.Node {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(document), &n); err != nil {
		t.Fatal(err)
	}
	return &n
}

// What is said of one place again, as of a part that several cases share, is one error, and other words or places are others.
// Beyond a thousand there is nothing more to collect.
func TestErrorsAdd(t *testing.T) {
	var all strictyaml.Errors
	said := func(line int, word string) *strictyaml.Error {
		return strictyaml.Errorf("f", line, 1, word, nil, "unknown key")
	}
	for _, one := range []*strictyaml.Error{said(2, "b"), said(1, "a"), said(2, "b"), said(2, "c"), said(1, "a")} {
		all.Add(one)
	}
	if got, want := all.Err().Error(), "f:1:1: unknown key \"a\"\nf:2:1: unknown key \"b\"\nf:2:1: unknown key \"c\""; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	added := len(all)
	for line := range 1200 {
		if all.Add(said(10+line, "d")) {
			added++
		}
	}
	if added != 1000 || len(all) != added {
		t.Errorf("%d errors were added, and there are %d", added, len(all))
	}
}
