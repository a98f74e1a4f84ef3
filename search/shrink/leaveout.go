package shrink

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// leaveOut leaves out whatever the file can do without: elements of lists, in ever smaller groups of neighbours, and keys,
// whose defaults then hold. It is delta debugging (Zeller and Hildebrandt 2002, Simplifying and Isolating Failure-Inducing
// Input), level by level (Misherghi and Su 2006, Hierarchical Delta Debugging), without the half that tries the groups by
// themselves.
func leaveOut(x *shrinker) { x.leavesOut(place{}) }

func (x *shrinker) leavesOut(at place) {
	n := at.in(x.root)
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		x.elements(at)
		for i := range x.length(at) {
			x.leavesOut(at.child(i))
		}
	case n.Kind == yaml.MappingNode:
		if at.is("timeline.do") && len(n.Content) == 2 { // what the step is given
			x.cut(func(root *yaml.Node) { step := at.in(root); *step = *step.Content[0] })
		}
		for i := len(n.Content) - 2; i >= 0; i -= 2 {
			if entry := at.child(n.Content[i].Value); !x.stays(entry) && !x.entry(at, entry) {
				x.leavesOut(entry)
			}
		}
	}
}

// stays says that a part stays as it is: what is asked about, what nobody looks at, and what other passes know more of.
func (x *shrinker) stays(at place) bool {
	return at.is("lock.protocol", "lock.preset", "budget", "title", "source", "explanation", "claim", "expect", "recorded", "duration", "network",
		"clients", "nodes.names", "nodes.replicas", "resources", "semaphores")
}

// length is how many elements a list has.
func (x *shrinker) length(at place) int {
	if n := at.in(x.root); n != nil && n.Kind == yaml.SequenceNode {
		return len(n.Content)
	}
	return 0
}

// entry leaves out a key of a mapping. A fault of which nothing says how long it lasts, lasts for good, so that its quantities
// stay: but for that of a node that comes back, without which there is less to read.
func (x *shrinker) entry(at, entry place) bool {
	if entry.is("timeline", "nodes", "lock") || at.isOfFault() && entry.key() != "restart-after" && quantityOf(entry, entry.in(x.root)) != nil {
		return false
	}
	return x.cut(func(root *yaml.Node) { remove(at.in(root), entry.key()) })
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
			if of(at.child(i).in(x.root)) {
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
		for from := 0; from+size <= x.length(at) && size < x.length(at); {
			var group []int
			for i := range size {
				group = append(group, from+i)
			}
			if !x.drops(at, group...) {
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
