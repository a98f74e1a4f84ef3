package strictyaml_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"redlocksim/internal/strictyaml"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct{ name, base, patch, want string }{
		{"new key", "{a: 1}", "{b: 2}", "{a: 1, b: 2}"},
		{"patch wins, in the place of base", "{a: 1, b: 2}", "{a: 3}", "{a: 3, b: 2}"},
		{"deep", "{a: {b: 1, c: {d: 2}}}", "{a: {c: {e: 3}}}", "{a: {b: 1, c: {d: 2, e: 3}}}"},
		{"a list replaces", "{a: [1, 2]}", "{a: [3]}", "{a: [3]}"},
		{"a scalar replaces a mapping", "{a: {b: 1}}", "{a: 2}", "{a: 2}"},
		{"a mapping replaces a scalar", "{a: 1}", "{a: {b: 2}}", "{a: {b: 2}}"},
		{"null removes", "{a: 1, b: 2, c: 3}", "{b: ~}", "{a: 1, c: 3}"},
		{"null removes deep", "{a: {b: 1, c: 2}}", "{a: {b: null}}", "{a: {c: 2}}"},
		{"quoted null is text", "{a: 1}", "{a: 'null'}", "{a: 'null'}"},
		{"null for nothing stays to be refused", "{a: 1}", "{b: null}", "{a: 1, b: null}"},
		{"duplicates of patch stay to be refused", "{a: 1}", "{a: 2, a: 3}", "{a: 2, a: 3}"},
		{"removed and set stays to be refused", "{a: 1}", "{a: 2, a: ~}", "{a: 2, a: ~}"},
		{"an empty patch", "{a: 1}", "{}", "{a: 1}"},
		{"scalars", "1", "2", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, patch := parse(t, c.base), parse(t, c.patch)
			got := render(t, strictyaml.Merge(base, patch))
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if after := render(t, base); after != c.base {
				t.Errorf("base is now %s", after)
			}
			if after := render(t, patch); after != c.patch {
				t.Errorf("patch is now %s", after)
			}
		})
	}
}

func TestMergeOfNothing(t *testing.T) {
	n := parse(t, "{a: 1}")
	if got := strictyaml.Merge(n, nil); got != n.Content[0] {
		t.Errorf("got %v", got)
	}
	if got := strictyaml.Merge(nil, n); got != n.Content[0] {
		t.Errorf("got %v", got)
	}
}

func TestMergeKeepsPositions(t *testing.T) {
	base := parse(t, "a:\n  b: 1\n  c: 2\n")
	patch := parse(t, "\n\n\na:\n  c: 3\n")
	merged := strictyaml.Merge(base, patch)
	inner := merged.Content[1]
	for _, c := range []struct {
		name         string
		n            *yaml.Node
		line, column int
	}{
		{"root", merged, 1, 1},
		{"a", merged.Content[0], 1, 1},
		{"mapping of a", inner, 2, 3},
		{"b", inner.Content[0], 2, 3},
		{"1", inner.Content[1], 2, 6},
		{"c", inner.Content[2], 5, 3},
		{"3", inner.Content[3], 5, 6},
	} {
		if c.n.Line != c.line || c.n.Column != c.column {
			t.Errorf("%s is at %d:%d, want %d:%d", c.name, c.n.Line, c.n.Column, c.line, c.column)
		}
	}
}

// A patch laid over a base twice is as one laid once, if it removes nothing.
func TestMergeTwiceIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base, patch := drawMapping(t, 3), drawMapping(t, 3)
		once := strictyaml.Merge(base, patch)
		before := render(t, once)
		if twice := render(t, strictyaml.Merge(once, patch)); twice != before {
			t.Errorf("once %s, twice %s", before, twice)
		}
	})
}

func drawMapping(t *rapid.T, depth int) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Style: yaml.FlowStyle}
	for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID).Draw(t, "keys") {
		value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "value")}
		if depth > 0 && rapid.Bool().Draw(t, "deep") {
			value = drawMapping(t, depth-1)
		}
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	}
	return n
}

func render(t interface{ Fatal(...any) }, n *yaml.Node) string {
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n")
}
