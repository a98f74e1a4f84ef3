package strictyaml

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Errorf reports that a node is wrong. The word is what is wrong about it, and the nearest word of valid becomes the
// suggestion; if none is near, the error lists them all. Both may be empty. Of a key, pass the key's node. The same error
// reported twice, as for a part that several cases share, counts once.
func (d *Decoder) Errorf(n *yaml.Node, word string, valid []string, format string, args ...any) {
	d.add(n, Errorf(d.file, n.Line, n.Column, word, valid, format, args...))
}

// suggest reports a word of which it may be known what was meant.
func (d *Decoder) suggest(n *yaml.Node, meant, format string, args ...any) {
	e := Errorf(d.file, n.Line, n.Column, n.Value, nil, format, args...)
	e.hint = DidYouMean(meant)
	d.add(n, e)
}

// want reports a node that is not of the kind needed.
func (d *Decoder) want(n *yaml.Node, what string) {
	if isNull(n) {
		d.Errorf(n, "", nil, "no value; give one or leave it out")
		return
	}
	d.Errorf(n, n.Value, nil, "want %s, got %s", what, describe(n))
}

func (d *Decoder) add(n *yaml.Node, e *Error) {
	d.reports++
	if d.errs.Add(e) {
		e.Path = d.path(n)
	}
}

// A place is where a node is in its document. Paths are built from places when an error needs one: a path kept for every node
// would let a long key with many values under it fill the memory.
type place struct {
	in    *yaml.Node
	key   *yaml.Node // of a value in a mapping
	item  int        // of a list, from 1
	depth int
}

// path prints where a node is. A key is where its mapping is.
func (d *Decoder) path(n *yaml.Node) (path string) {
	for ; n != nil; n = d.places[n].in {
		switch at := d.places[n]; {
		case at.key != nil:
			path = "." + plainly(at.key.Value) + path
		case at.item > 0:
			path = fmt.Sprintf("[%d]", at.item-1) + path
		}
	}
	return strings.TrimPrefix(path, ".")
}

// maxDepth is how deep mappings and lists may be nested.
const maxDepth = 64

const aliasRefused = "aliases are refused; write the value out"

// sound walks a whole tree once, including parts that no field will be decoded from, and reports what is refused everywhere.
// Nothing is decoded from a document that is not sound.
func (d *Decoder) sound(n *yaml.Node, at place) bool {
	if _, known := d.places[n]; known {
		return true
	}
	before := d.reports
	d.places[n] = at
	switch {
	case n.Kind == yaml.AliasNode:
		d.Errorf(n, "*"+n.Value, nil, aliasRefused)
	case n.Style&yaml.TaggedStyle != 0:
		d.Errorf(n, n.Tag, nil, "tags are refused; a text that looks like another type needs quotes:")
	case n.Anchor != "":
		d.Errorf(n, "&"+n.Anchor, nil, "anchors are refused")
	}
	if n.Kind != yaml.ScalarNode && at.depth > maxDepth {
		d.Errorf(n, "", nil, "nested deeper than %d levels", maxDepth)
		return false
	}
	if n.Kind == yaml.SequenceNode {
		for i, item := range n.Content {
			d.sound(item, place{in: n, item: i + 1, depth: at.depth + 1})
		}
		return d.reports == before
	}
	first := map[string]int{}
	for key, value := range pairs(n) {
		sound := d.sound(key, place{in: n, depth: at.depth + 1})
		d.sound(value, place{in: n, key: key, depth: at.depth + 1})
		switch line := first[key.Value]; {
		case !sound:
		case key.Kind != yaml.ScalarNode:
			d.Errorf(key, "", nil, "a key must be text, this is %s", describe(key))
		case key.Tag == mergeTag:
			d.Errorf(key, key.Value, nil, "merge keys are refused; write the keys out")
		case isNull(key) || isNumber(key) || key.Tag == boolTag:
			d.Errorf(key, key.Value, nil, "a key must be text, this is %s; put it in quotes:", describe(key))
		case line > 0:
			d.Errorf(key, key.Value, nil, "duplicate key, first on line %d:", line)
		default:
			first[key.Value] = max(key.Line, 1)
		}
	}
	return d.reports == before
}
