package shrink

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// tree is the parsed file of the simplest scenario so far, to read.
func (x *shrinker) tree() *yaml.Node {
	if x.root == nil {
		x.root = parsed(x.data)
	}
	return x.root
}

// parsed is the tree of a scenario's file.
func parsed(data []byte) *yaml.Node {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		panic(err) // it is a scenario
	}
	return document.Content[0]
}

// cut makes a change of the file if it makes the scenario simpler and that is still broken. What is refused once is refused
// for good, since scenarios only become simpler.
func (x *shrinker) cut(change func(root *yaml.Node)) bool {
	if x.stopped != nil {
		return false
	}
	root := parsed(x.data)
	change(root)
	data, err := yaml.Marshal(root)
	if err != nil || x.refused[string(data)] {
		return false
	}
	if own, err := x.parse(data); err == nil && x.take(x.encoded(own)) {
		return true
	}
	x.refused[string(data)] = x.stopped == nil
	return false
}

// place is where a node of a tree is: the key or the index at each level.
type place []any

// in is the node at a place; nil if there is none.
func (p place) in(n *yaml.Node) *yaml.Node {
	for _, step := range p {
		i, isIndex := step.(int)
		if !isIndex {
			if i = key(n, step.(string)) + 1; i == 0 {
				return nil
			}
		}
		if i >= len(n.Content) {
			return nil
		}
		n = n.Content[i]
	}
	return n
}

// key is where a mapping has a key; −1 if it has none.
func key(n *yaml.Node, name string) int {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return i
		}
	}
	return -1
}

func (p place) child(step any) place { return append(slices.Clip(p), step) }

// is says whether a place is one of some, by the keys that lead to it.
func (p place) is(places ...string) bool {
	var keys []string
	for _, step := range p {
		if key, is := step.(string); is {
			keys = append(keys, key)
		}
	}
	return slices.Contains(places, strings.Join(keys, "."))
}

// isQuantity is what a value looks like that other passes make milder: a fault of which nothing says how long it lasts, lasts
// for good. A node that comes back is the exception: without that there is less to read.
var isQuantity = regexp.MustCompile(`^-?[0-9.]+(ns|us|µs|ms|s|m|h|%).*$`)

// leaveOut leaves out whatever the file can do without: elements of lists, in ever smaller groups of neighbours, and keys,
// whose defaults then hold. It is delta debugging (Zeller and Hildebrandt 2002, Simplifying and Isolating Failure-Inducing
// Input), level by level (Misherghi and Su 2006, Hierarchical Delta Debugging), without the half that tries the groups by
// themselves.
func leaveOut(x *shrinker) { x.leavesOut(place{}) }

func (x *shrinker) leavesOut(at place) {
	n := at.in(x.tree())
	if n == nil || at.is("budget", "expect", "recorded", "clients", "network", "nodes.names", "nodes.replicas", "resources", "semaphores") {
		return
	}
	if n.Kind == yaml.SequenceNode {
		x.elements(at)
		for i := range x.length(at) {
			x.leavesOut(at.child(i))
		}
		return
	}
	if at.is("timeline.do") && len(n.Content) == 2 { // what the step is given
		x.cut(func(root *yaml.Node) { step := at.in(root); *step = *step.Content[0] })
	}
	for i := len(n.Content) - 2; i >= 0; i -= 2 {
		entry := at.child(n.Content[i].Value)
		if !x.entry(at, entry) {
			x.leavesOut(entry)
		}
	}
}

// length is how many elements a list has.
func (x *shrinker) length(at place) int {
	if n := at.in(x.tree()); n != nil && n.Kind == yaml.SequenceNode {
		return len(n.Content)
	}
	return 0
}

// entry leaves out a key of a mapping. What is asked about stays, what other passes take out, and how long a fault lasts.
func (x *shrinker) entry(at, entry place) bool {
	if entry.is("timeline", "title", "source", "explanation", "claim", "clients", "budget", "expect", "duration", "recorded",
		"network", "nodes", "nodes.names", "nodes.replicas", "resources", "semaphores", "lock", "lock.protocol", "lock.preset") {
		return false
	}
	if n := entry.in(x.tree()); n == nil || len(at) > 3 && at[2] == "fault" && entry[len(entry)-1] != "restart-after" && isQuantity.MatchString(n.Value) {
		return false
	}
	return x.cut(func(root *yaml.Node) {
		n := at.in(root)
		i := key(n, entry[len(entry)-1].(string))
		n.Content = slices.Delete(n.Content, i, i+2)
	})
}

// drops leaves out elements of a list, at indices that ascend.
func (x *shrinker) drops(at place, indices ...int) bool {
	return x.cut(func(root *yaml.Node) {
		n := at.in(root)
		for _, i := range slices.Backward(indices) {
			n.Content = slices.Delete(n.Content, i, i+1)
		}
	})
}

// elements leaves out elements of a list. An empty one would mean all, but for the timeline.
func (x *shrinker) elements(at place) {
	isFault := func(item *yaml.Node) bool { return key(item, "fault") >= 0 }
	switch {
	case at.is("timeline"):
		x.groups(at, 0, func(item *yaml.Node) bool { return !isFault(item) })
		x.groups(at, 0, isFault)
	case at.is("timeline.do"):
		x.steps(at)
	default:
		x.groups(at, 1, func(*yaml.Node) bool { return true })
	}
}

// groups leaves out neighbours among some elements of a list, as long as so many are left of all.
func (x *shrinker) groups(at place, least int, of func(*yaml.Node) bool) {
	chosen := func() (indices []int) {
		for i := range x.length(at) {
			if of(at.child(i).in(x.tree())) {
				indices = append(indices, i)
			}
		}
		return indices
	}
	for size := len(chosen()); size > 0; size /= 2 {
		for from, all := 0, chosen(); from < len(all); all = chosen() {
			group := all[from:min(from+size, len(all))]
			if x.length(at)-len(group) < least || !x.drops(at, group...) {
				from += size
			}
		}
	}
}

// steps leaves out any neighbours in a program, and any two, as a lock and its unlock.
func (x *shrinker) steps(at place) {
	for size := x.length(at) - 1; size > 0; size-- {
		for from := 0; from+size <= x.length(at); {
			var group []int
			for i := range size {
				group = append(group, from+i)
			}
			if size == x.length(at) || !x.drops(at, group...) {
				from++
			}
		}
	}
	for first := 0; first < x.length(at); first++ {
		for second := first + 2; second < x.length(at); {
			if !x.drops(at, first, second) {
				second++
			}
		}
	}
}
