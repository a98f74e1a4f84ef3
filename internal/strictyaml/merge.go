package strictyaml

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// Merge lays patch over base, as for a named case of an experiment that says only what is different in it. Where both are
// mappings they are merged key by key; anything else in patch replaces what base has, lists too. A null removes the key from
// what base has.
//
// Every node keeps the line and column that it came from. Neither base nor patch is modified; the result shares nodes with
// both, so it must not be modified either. Nothing is hidden: a duplicate key stays one, and a null for a key that base does
// not have stays, and both are errors when the result is decoded.
func Merge(base, patch *yaml.Node) *yaml.Node {
	base, patch = content(base), content(patch)
	switch {
	case patch == nil:
		return base
	case base == nil || base.Kind != yaml.MappingNode || patch.Kind != yaml.MappingNode || !plain(patch):
		return patch
	}
	merged := *base
	merged.Content = append([]*yaml.Node(nil), base.Content...)
	at := keyPositions(base)
	seen := make(map[keyID]bool)
	for key, value := range pairs(patch) {
		id := keyID{key.Kind, key.Tag, key.Value}
		i, ok := at[id]
		if !ok || i == ambiguous || seen[id] {
			merged.Content = append(merged.Content, key, value)
			continue
		}
		seen[id] = true
		old := merged.Content[i+1]
		switch {
		case isNull(value) && plain(value):
			merged.Content[i], merged.Content[i+1] = nil, nil
		case value.Kind == yaml.MappingNode && old.Kind == yaml.MappingNode:
			merged.Content[i+1] = Merge(old, value)
		default:
			merged.Content[i], merged.Content[i+1] = key, value
		}
	}
	merged.Content = slices.DeleteFunc(merged.Content, func(n *yaml.Node) bool { return n == nil })
	return &merged
}

// A keyID tells keys apart. The tag counts: 1 and "1" are not the same key, and the former is none.
type keyID struct {
	kind       yaml.Kind
	tag, value string
}

// ambiguous is the position of a key that a mapping has twice.
const ambiguous = -1

func keyPositions(n *yaml.Node) map[keyID]int {
	at := make(map[keyID]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			continue
		}
		id := keyID{key.Kind, key.Tag, key.Value}
		if _, ok := at[id]; ok {
			at[id] = ambiguous
			continue
		}
		at[id] = i
	}
	return at
}

// plain is a node without a tag or an anchor, which merging would lose and so hide from the decoder that refuses them.
func plain(n *yaml.Node) bool {
	return n.Anchor == "" && n.Style&yaml.TaggedStyle == 0
}

// content is the root of a document, or the node itself.
func content(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		return n.Content[0]
	}
	return n
}
