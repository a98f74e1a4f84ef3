package strictyaml

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth is how deep mappings and lists may be nested.
const maxDepth = 64

const aliasRefused = "aliases are refused; write the value out"

const (
	nullTag  = "!!null"
	boolTag  = "!!bool"
	strTag   = "!!str"
	intTag   = "!!int"
	floatTag = "!!float"
	mergeTag = "!!merge"
)

// A link is the place of a node in its document. Paths are built from links when an error needs one: a path kept for every node
// would let a long key with many values under it fill the memory.
type link struct {
	parent *yaml.Node
	key    *yaml.Node // of a value in a mapping
	item   int        // of a list, from 1
	depth  int
}

// vet walks a whole tree once, including parts that no field will be decoded from, and reports what is refused everywhere. It
// says whether the tree is shallow enough to decode.
func (d *Decoder) vet(n *yaml.Node, at link) bool {
	if _, known := d.links[n]; known {
		return true
	}
	d.links[n] = at
	d.refused(n)
	if n.Anchor != "" {
		d.Errorf(n, "&"+n.Anchor, nil, "anchors are refused")
	}
	if n.Kind != yaml.MappingNode && n.Kind != yaml.SequenceNode {
		return true
	}
	if at.depth > maxDepth {
		d.Errorf(n, "", nil, "nested deeper than %d levels", maxDepth)
		return false
	}
	shallow := true
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			shallow = d.vet(item, link{parent: n, item: i + 1, depth: at.depth + 1}) && shallow
		}
		return shallow
	}
	first := make(map[string]int)
	for key, value := range pairs(n) {
		shallow = d.vet(key, link{parent: n, depth: at.depth + 1}) && shallow
		shallow = d.vet(value, link{parent: n, key: key, depth: at.depth + 1}) && shallow
		if !d.keyed(key) {
			continue
		}
		if line, ok := first[key.Value]; ok {
			d.Errorf(key, key.Value, nil, "duplicate key, first on line %d:", line)
			continue
		}
		first[key.Value] = key.Line
	}
	return shallow
}

// refused reports a node that cannot be a value.
func (d *Decoder) refused(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.AliasNode:
		d.Errorf(n, "*"+n.Value, nil, aliasRefused)
	case n.Style&yaml.TaggedStyle != 0:
		d.Errorf(n, n.Tag, nil, "tags are refused; a text that looks like another type needs quotes:")
	default:
		return false
	}
	return true
}

// keyed reports a key that is not a string; such a key is then passed over.
func (d *Decoder) keyed(key *yaml.Node) bool {
	if d.refused(key) {
		return false
	}
	switch {
	case key.Kind != yaml.ScalarNode:
		d.Errorf(key, "", nil, "a key must be text, this is %s", describe(key))
	case key.Tag == mergeTag:
		d.Errorf(key, key.Value, nil, "merge keys are refused; write the keys out")
	case key.Tag == nullTag || key.Tag == boolTag || key.Tag == intTag || key.Tag == floatTag:
		d.Errorf(key, key.Value, nil, "a key must be text, this is %s; put it in quotes:", describe(key))
	default:
		return true
	}
	return false
}

// entries yields the keys and values of a mapping without those that vet reported: keys that are no strings, and all but the
// first of duplicates.
func (d *Decoder) entries(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		seen := make(map[string]bool)
		for key, value := range pairs(n) {
			if !d.keyed(key) || seen[key.Value] {
				continue
			}
			seen[key.Value] = true
			if !yield(key, value) {
				return
			}
		}
	}
}

func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// path prints where a node is. A key is where its mapping is.
func (d *Decoder) path(n *yaml.Node) string {
	var steps []string
	for n != nil {
		at := d.links[n]
		switch {
		case at.key != nil:
			steps = append(steps, "."+pathWord(at.key.Value))
		case at.item > 0:
			steps = append(steps, fmt.Sprintf("[%d]", at.item-1))
		}
		n = at.parent
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		b.WriteString(steps[i])
	}
	return strings.TrimPrefix(b.String(), ".")
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == nullTag
}

// describe names what a node is, in the words of someone who writes the file.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case nullTag:
		return "null"
	case boolTag:
		return "true or false"
	case intTag, floatTag:
		return "a number"
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		return "text in quotes"
	}
	return "text"
}
