package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/rounded"
	"redlocksim/reports/story"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
	"redlocksim/sim/storage"
)

// builder makes a Timeline.
type builder struct {
	t      *Timeline
	result *verdict.Result
	rec    *recorder      // nil for a run on tier live
	end    Instant        // of the run
	lanes  map[string]int // by the process's name, from 0; only those there are
}

// span adds a span to the lane of a process. to is the end of a span that is over, or a time later than any in the run.
func (b *builder) span(process string, s Span, to Instant) {
	lane, ok := b.lanes[process]
	if !ok {
		return
	}
	if s.To = to; s.To > b.end {
		s.To, s.Open = b.end, true
	}
	s.Short = cmp.Or(s.Short, s.Resource)
	l := &b.t.Lanes[lane]
	l.Spans = append(l.Spans, s)
}

// owner is the lane of a client; -1 if it is none.
func (b *builder) owner(process string) int {
	lane, ok := b.lanes[process]
	if !ok || b.t.Lanes[lane].Kind != clientLane {
		return -1
	}
	return lane
}

func (b *builder) mark(process string, m Mark) {
	if lane, ok := b.lanes[process]; ok {
		b.t.Lanes[lane].Marks = append(b.t.Lanes[lane].Marks, m)
	}
}

// during says from when to when.
func (b *builder) during(from, until Instant) string {
	if until > b.end {
		return fmt.Sprintf("from %s on", seconds(from))
	}
	return fmt.Sprintf("from %s to %s, for %v", seconds(from), seconds(until), rounded.Duration(time.Duration(until-from)))
}

// until is the end of what may be without one.
func (b *builder) until(to Instant) string {
	if to > b.end {
		return "the end of the run"
	}
	return seconds(to)
}

// seconds is an instant as the story has it.
func seconds(t Instant) string { return story.Seconds(time.Duration(t)) }

// addLanes makes a lane for each client, for each node that has to do with the run, and for the storage if it was used.
func (b *builder) addLanes() {
	s := b.result.Scenario
	add := func(kind LaneKind, name string) {
		if (kind == clientLane) || b.takesPart(name) {
			b.lanes[name] = len(b.t.Lanes)
			b.t.Lanes = append(b.t.Lanes, Lane{Name: name, Kind: kind, Spans: []Span{}, Marks: []Mark{}, Clocks: []Reading{}})
		}
	}
	for _, name := range s.Clients {
		add(clientLane, name)
	}
	add(storageLane, storage.Name)
	for _, name := range s.Nodes.Names {
		add(nodeLane, name)
		for _, of := range s.Nodes.Replicas {
			if of.Key == name {
				for _, replica := range of.Value {
					add(replicaLane, replica)
				}
			}
		}
	}
}

// takesPart says whether there is anything to show of a process that is no client.
func (b *builder) takesPart(name string) bool {
	if b.rec != nil && slices.ContainsFunc(b.rec.messages, func(m message) bool { return m.from == name || m.to == name }) {
		return true
	}
	return slices.ContainsFunc(b.result.History, func(e history.Event) bool {
		return e.Node == name || name == storage.Name && e.Kind == history.Effect && e.Node == ""
	})
}

// addResources lists what was used, if it is more than one.
func (b *builder) addResources() {
	var used []string
	for _, name := range b.result.Scenario.Resources {
		if slices.ContainsFunc(b.result.History, func(e history.Event) bool { return e.Kind == history.Call && e.Resource == name }) {
			used = append(used, name)
		}
	}
	if len(used) > 1 {
		b.t.Resources = used
	}
}

// named is a resource where the run has more than one.
func (b *builder) named(resource string) string {
	if b.t.Resources == nil {
		return ""
	}
	return resource
}

// behind is a word and a resource, where it is named.
func (b *builder) behind(word, resource string) string {
	if name := b.named(resource); name != "" {
		return word + name
	}
	return ""
}

// used are the resources that a lane has something on.
func (b *builder) used(l *Lane) []string {
	var used []string
	for _, name := range b.t.Resources {
		if slices.ContainsFunc(l.Spans, func(s Span) bool { return s.Resource == name }) {
			used = append(used, name)
		}
	}
	return used
}

// longestResource is how many characters of a resource's name are written before its row.
const longestResource = 14

// shortened is a resource's name as it is written before its row.
func shortened(name string) string {
	if all := []rune(name); len(all) > longestResource {
		return string(all[:longestResource-1]) + "…"
	}
	return name
}
