package strictyaml_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/internal/strictyaml"
)

func (e even) MarshalScalar() (string, error) {
	if e != 2 {
		return "", errOdd
	}
	return "2", nil
}

func (s step) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	switch {
	case s.Unlock:
		return strictyaml.Text("unlock")
	case s.Crash != "":
		return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{strictyaml.Text("crash"), strictyaml.Text(s.Crash)}}
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{strictyaml.Text("hold"), e.Encode(s.Hold, nil)}}
}

// TestEncodeWritesWhatDiffers: over a base, exactly what is different in a value is written, and read back.
func TestEncodeWritesWhatDiffers(t *testing.T) {
	base := experiment{Rounds: 3, TTL: 10 * time.Second, Quick: true, Kind: "pause", Even: 2, Clock: &clock{Drift: "1%", Delay: time.Second}, Nodes: []node{{Name: "A"}}}
	base.Leader = "B"
	for _, test := range []struct {
		name   string
		change func(*experiment)
		want   string
	}{
		{"nothing", func(*experiment) {}, ""},
		{"to zero", func(x *experiment) { x.Rounds, x.TTL, x.Quick = 0, 0, false }, "rounds: 0\nquick: false\nttl: 0s\n"},
		{"numbers", func(x *experiment) { x.Seed, x.Skew, x.Rounds = math.MinInt64, -1, 255 }, "seed: -9223372036854775808\nrounds: 255\nskew: -1\n"},
		{"a part of a part", func(x *experiment) { x.Clock = &clock{Drift: "1%", Delay: 0} }, "clock: {drift: 1%, delay: 0s}\n"},
		{"a list is one thing", func(x *experiment) { x.Nodes = []node{{"A", 0}, {"B", 7}} }, "nodes:\n  - {name: A}\n  - {name: B, port: 7}\n"},
		{"an empty list", func(x *experiment) { x.Nodes = []node{} }, "nodes: []\n"},
		{"words", func(x *experiment) { x.Kind = "crash" }, "kind: crash\n"},
		{"wrappers", func(x *experiment) {
			x.Cases = strictyaml.Ordered[clock]{{Key: "z", Value: clock{Drift: "no"}}, {Key: "a", Value: clock{Delay: time.Minute}}}
		}, "cases: {z: {drift: no}, a: {drift: \"\", delay: 1m}}\n"},
		{"unions", func(x *experiment) { x.Steps = []step{{Unlock: true}, {Hold: 1500 * time.Millisecond}, {Crash: "A"}} }, "steps: [unlock, {hold: 1500ms}, {crash: A}]\n"},
		{"inline", func(x *experiment) { x.MaxSteps = 9 }, "max_steps: 9\n"},
		{"recursion", func(x *experiment) { x.Tree = tree{[]tree{{}, {[]tree{{}}}}} }, "tree: {sub: [{}, {sub: [{}]}]}\n"},
	} {
		x := base
		x.Name = "x"
		test.change(&x)
		data, err := strictyaml.Encode(&x, base)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := strings.TrimPrefix(string(data), "name: x\n"); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
		back := base
		back.Clock = &clock{Drift: "1%", Delay: time.Second}
		if err := strictyaml.Decode("x.yaml", data, &back); err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if !reflect.DeepEqual(back, x) {
			t.Errorf("%s: %+v comes back as %+v", test.name, x, back)
		}
	}
}

func TestEncodeRefusesWhatNoDocumentSays(t *testing.T) {
	set := experiment{Clock: &clock{}, Even: 2}
	if _, err := strictyaml.Encode(experiment{Even: 2}, set); err == nil {
		t.Error("a nil where the base has something is encoded")
	}
	if _, err := strictyaml.Encode(experiment{Even: 3}, experiment{Even: 2}); !errors.Is(err, errOdd) {
		t.Errorf("a value without a word: %v", err)
	}
	if _, err := strictyaml.Encode(experiment{Name: "a\xff", Even: 2}, experiment{Even: 2}); err == nil {
		t.Error("a text that is not UTF-8 is encoded")
	}
}

// oneWay decodes itself only.
type oneWay struct{}

func (*oneWay) UnmarshalScalar(string) error { return nil }

func TestEncodeDemandsBothWays(t *testing.T) {
	for _, v := range []any{
		struct {
			X *oneWay `yaml:"x"`
		}{new(oneWay)},
		struct {
			X []hopeless `yaml:"x"`
		}{[]hopeless{{}}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T is encoded", v)
				}
			}()
			_, _ = strictyaml.Encode(v, v)
		}()
	}
}

func TestEncodeDurations(t *testing.T) {
	type holder struct {
		For time.Duration `yaml:"for,required"`
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 1: "1ns", -1: "-1ns", 1500: "1500ns", 2 * time.Microsecond: "2us", 1001 * time.Millisecond: "1001ms", 90 * time.Second: "90s",
		-5 * time.Second: "-5s", 2 * time.Minute: "2m", 36 * time.Hour: "36h", math.MaxInt64: "9223372036854775807ns", math.MinInt64: "-9223372036854775808ns",
	} {
		data, err := strictyaml.Encode(holder{d}, holder{})
		if got := strings.TrimSpace(strings.TrimPrefix(string(data), "for:")); got != want || err != nil {
			t.Errorf("%v: %s, %v; want %s", d, got, err, want)
		}
		var back holder
		if err := strictyaml.Decode("x", data, &back); err != nil || back.For != d {
			t.Errorf("%v comes back as %v, %v", d, back.For, err)
		}
	}
}

// printable is a text without what no text may hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029') {
			return -1
		}
		return r
	}, text)
}

// TestTextIsPrintable: what a terminal or a page could take for something else is refused where it stands.
func TestTextIsPrintable(t *testing.T) {
	for _, bad := range []string{`\x00`, `\x1b[2J`, `\r`, `\x7f`, `\u009b`, `\u0085`, `\u202e`, `\u2066`, `\u200f`, `\u2028`} {
		var x struct {
			Text string `yaml:"text"`
		}
		err := strictyaml.Decode("f", []byte("text: \"a"+bad+"\"\n"), &x)
		if err == nil || !strings.HasPrefix(err.Error(), "f:1:7: ") || strings.ContainsFunc(err.Error(), unicode.IsControl) {
			t.Errorf("%s: %q", bad, err)
		}
	}
}

// TestEncodeTexts: any printable text comes back, also one that YAML would take for something else, or that is folded.
func TestEncodeTexts(t *testing.T) {
	type holder struct {
		Text string   `yaml:"text,required"`
		List []string `yaml:"list"`
	}
	check := func(t interface{ Errorf(string, ...any) }, text string) {
		x := holder{text, []string{text}}
		data, err := strictyaml.Encode(x, holder{})
		var back holder
		if err == nil {
			err = strictyaml.Decode("x", data, &back)
		}
		if err != nil || !reflect.DeepEqual(back, x) {
			t.Errorf("%q comes back as %q, %v, from\n%s", text, back, err, data)
		}
	}
	long := strings.Repeat("twelve words ", 12)
	for _, text := range []string{"", " ", "true", "1", "1e3", "~", "null", "on", "2026-11-21", "a: b", "a #b", "# a", "- a", "'", "\"", "{", "]", ",", "a, b", "%a", "@", "!x", "&x", "*x",
		"a\nb", "a\n", "\n", "\ta", "\t\n", "a\n\tb", "a\n b", " \n", "a\n\t", "\n\n\ta\n", "\ufeff", long, long + "end", long + "end\n", long + "end\n\n", " " + long, long + " two  spaces",
		long + "\n" + long, strings.Repeat("#", 30) + " " + long + "end", "- " + long + "end", long + "\ta", strings.Repeat("x", 300), long + "end\u00a0"} {
		check(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, printable(rapid.String().Draw(t, "text")))
		check(t, printable(strings.Join(rapid.SliceOfN(rapid.StringN(0, 5, -1), 0, 60).Draw(t, "words"), " ")))
	})
}
