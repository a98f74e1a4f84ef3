package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"

	"redlocksim/scenarios/schema"
)

// Completions are the words that fit at the cursor, in place of what stands there since From.
type Completions struct {
	From    int          `json:"from"`
	Options []Completion `json:"options"`
}

// Completion is a key or a value; Apply is what is typed for it.
type Completion struct {
	Label  string `json:"label"`
	Apply  string `json:"apply"`
	Detail string `json:"info,omitempty"`
}

// cursor stands for the word that is being typed.
const cursor = "CURSOR0"

// complete finds the words that fit at an offset, which counts in UTF-16 units as browsers do: what the schema of scenario
// files allows where a word at the cursor would be.
func complete(text string, offset int) (*Completions, error) {
	units := utf16.Encode([]rune(text))
	before := string(utf16.Decode(units[:min(max(offset, 0), len(units))]))
	start := strings.LastIndexFunc(before, func(r rune) bool { return !isWord(r) }) + 1
	found := &Completions{From: offset - len(before[start:]), Options: []Completion{}}
	path, isKey := whereabouts(before[:start])
	if path == nil {
		return found, nil
	}
	keys, words := map[string]string{}, map[string]string{}
	for _, s := range reached(root(), path) {
		s.collect(keys, words)
	}
	if isKey {
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			found.Options = append(found.Options, Completion{key, key + ": ", keys[key]})
		}
	}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		found.Options = append(found.Options, Completion{word, word, words[word]})
	}
	return found, nil
}

func isWord(r rune) bool {
	return r == '-' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// whereabouts is the path of the word that would follow a text, a key for a mapping and "" for an entry of a list; nil if
// nothing can stand there. isKey says that it can be a key.
func whereabouts(before string) (path []string, isKey bool) {
	open := closing(before)
	for _, as := range []string{": 0", ""} {
		var document yaml.Node
		if yaml.Unmarshal([]byte(before+cursor+as+open), &document) != nil || len(document.Content) == 0 {
			continue
		}
		if path, ok := pathTo(document.Content[0], []string{}); ok {
			return path, as != ""
		}
	}
	return nil, false
}

// closing are the brackets that a text leaves open.
func closing(text string) string {
	var open []byte
	quote := rune(0)
	for _, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' && len(open) > 0:
			quote = r
		case r == '{':
			open = append(open, '}')
		case r == '[':
			open = append(open, ']')
		case (r == '}' || r == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	slices.Reverse(open)
	return string(open)
}

// pathTo finds the cursor below a node.
func pathTo(n *yaml.Node, path []string) ([]string, bool) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == cursor {
				return path, true
			}
			if found, ok := pathTo(n.Content[i+1], append(slices.Clone(path), n.Content[i].Value)); ok {
				return found, true
			}
		}
	case yaml.SequenceNode:
		for _, part := range n.Content {
			if found, ok := pathTo(part, append(slices.Clone(path), "")); ok {
				return found, true
			}
		}
	case yaml.ScalarNode:
		return path, n.Value == cursor
	}
	return nil, false
}

// shape is what is used of a JSON Schema.
type shape struct {
	Ref         string            `json:"$ref"`
	Description string            `json:"description"`
	Properties  map[string]*shape `json:"properties"`
	Additional  json.RawMessage   `json:"additionalProperties"`
	Items       *shape            `json:"items"`
	Enum        []any             `json:"enum"`
	Const       any               `json:"const"`
	AnyOf       []*shape          `json:"anyOf"`
	OneOf       []*shape          `json:"oneOf"`
	AllOf       []*shape          `json:"allOf"`
	Then        *shape            `json:"then"`
	Else        *shape            `json:"else"`
	Definitions map[string]*shape `json:"definitions"`
}

var root = sync.OnceValue(func() *shape {
	s := &shape{}
	if err := json.Unmarshal(schema.Scenario, s); err != nil {
		panic(fmt.Sprintf("engine: the schema of scenario files: %v", err))
	}
	return s
})

// alternatives are all shapes that a value of this one may have.
func (s *shape) alternatives(depth int) (all []*shape) {
	if s == nil || depth > 20 {
		return nil
	}
	all = append(all, s)
	if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
		all = append(all, root().Definitions[name].alternatives(depth+1)...)
	}
	for _, group := range [][]*shape{s.AnyOf, s.OneOf, s.AllOf, {s.Then, s.Else}} {
		for _, one := range group {
			all = append(all, one.alternatives(depth+1)...)
		}
	}
	return all
}

// reached are the shapes at the end of a path.
func reached(from *shape, path []string) []*shape {
	now := from.alternatives(0)
	for _, step := range path {
		var next []*shape
		for _, s := range now {
			inner := s.Items
			if step != "" {
				inner = s.Properties[step]
				if inner == nil && len(s.Additional) > 0 && s.Additional[0] == '{' {
					inner = &shape{}
					if json.Unmarshal(s.Additional, inner) != nil {
						inner = nil
					}
				}
			}
			next = append(next, inner.alternatives(0)...)
		}
		now = next
	}
	return now
}

// collect adds the keys and the words that a shape has, with what they mean.
func (s *shape) collect(keys, words map[string]string) {
	for key, inner := range s.Properties {
		for _, one := range inner.alternatives(0) {
			if keys[key] == "" {
				keys[key] = one.Description
			}
		}
	}
	for _, value := range append(slices.Clone(s.Enum), s.Const) {
		if word, ok := value.(string); ok {
			words[word] = s.Description
		}
	}
}
