package story

import (
	"fmt"
	"strings"

	"redlocksim/sim/history"
)

// resources name what an event is about, in the stories of histories with several resources.
type resources struct {
	// several says that the history has more than one; nothing is named otherwise.
	several bool
	// first is the first operation of a call on several resources, by each of them, and names what that call is on.
	first map[int]int
	names map[int][]string
}

func newResources(h history.History) resources {
	r := resources{first: map[int]int{}, names: map[int][]string{}}
	only := ""
	for i := range h {
		e := &h[i]
		if e.Kind != history.Call || e.Resource == "" {
			continue
		}
		r.several = r.several || only != "" && e.Resource != only
		only = e.Resource
		if e.With != 0 {
			r.first[e.Op] = e.With
			r.names[e.With] = append(r.names[e.With], e.Resource)
		}
	}
	return r
}

// isPart says that an event belongs to a call on several resources and is told with the one on the first of them.
func (r *resources) isPart(e *history.Event) bool {
	op := e.Op
	if e.Kind == history.Expire {
		op = e.Grant
	}
	first, ok := r.first[op]
	return ok && first != op
}

// name is the names of what an event is on, all of them if it belongs to a call on several resources.
func (r *resources) name(e *history.Event) string {
	var names []string
	switch first := r.first[e.Op]; {
	case e.Kind == history.Step:
		names = strings.Split(e.Resource, ", ")
	case e.Kind == history.Expire && r.first[e.Grant] != 0:
		names = r.names[r.first[e.Grant]]
	case first != 0:
		names = r.names[first]
	default:
		return e.Resource
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}

// behind is a name behind a word, nothing if no names are needed.
func (r *resources) behind(word string, e *history.Event) string {
	if name := r.name(e); r.several && name != "" {
		return word + name
	}
	return ""
}

func (r *resources) on(e *history.Event) string    { return r.behind(" on ", e) }
func (r *resources) to(e *history.Event) string    { return r.behind(" to ", e) }
func (r *resources) of(e *history.Event) string    { return r.behind(" of ", e) }
func (r *resources) named(e *history.Event) string { return r.behind(" ", e) }

// aside is the name in brackets, for sentences that protocols tell.
func (r *resources) aside(e *history.Event) string {
	if text := r.behind("", e); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// value is the number that is read or written, with its resource where there are several.
func (r *resources) value(e *history.Event) string {
	if name := r.behind("", e); name != "" {
		return fmt.Sprintf("%s = %d", name, e.Number)
	}
	return fmt.Sprint(e.Number)
}
