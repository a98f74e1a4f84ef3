package strictyaml

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A link is the place of a node in its document. Paths are built from links when an error needs one: a path kept for every node
// would let a long key with many values under it fill the memory.
type link struct {
	parent *yaml.Node
	key    *yaml.Node // of a value in a mapping
	item   int        // of a list, from 1
	depth  int
}

// maxCollected bounds the work and memory spent on the errors of a hopeless file; those reported are the first in the file of
// the ones collected.
const maxCollected = 1000

// Errorf reports that a node is wrong. The word is what is wrong about it, and the nearest word of valid becomes the
// suggestion; if none is near, the error lists them all. Both may be empty. Of a key, pass the key's node. The same error
// reported twice, as for a part that several cases share, counts once.
func (d *Decoder) Errorf(n *yaml.Node, word string, valid []string, format string, args ...any) {
	if d.reports++; len(d.errs) < maxCollected {
		d.add(n, Errorf(d.file, n.Line, n.Column, word, valid, format, args...))
	}
}

// suggest reports a word of which it is known what was meant.
func (d *Decoder) suggest(n *yaml.Node, meant, format string, args ...any) {
	if d.reports++; len(d.errs) < maxCollected {
		e := Errorf(d.file, n.Line, n.Column, n.Value, nil, format, args...)
		e.Suggestion = meant
		d.add(n, e)
	}
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
	id := fmt.Sprintf("%d:%d:%s\x00%s", e.Line, e.Column, e.Msg, e.Word)
	if d.seen[id] {
		return
	}
	d.seen[id] = true
	e.Path = d.path(n)
	d.errs = append(d.errs, e)
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
