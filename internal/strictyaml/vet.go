package strictyaml

import (
	"go.yaml.in/yaml/v3"
)

// maxDepth is how deep mappings and lists may be nested.
const maxDepth = 64

const aliasRefused = "aliases are refused; write the value out"

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
