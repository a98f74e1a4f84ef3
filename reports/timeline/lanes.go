package timeline

import (
	"slices"

	"redlocksim/history"
	"redlocksim/sim/recording"
	"redlocksim/sim/storage"
)

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
	if r := b.result.Recording; r != nil && slices.ContainsFunc(r.Messages, func(m recording.Message) bool { return m.From == name || m.To == name }) {
		return true
	}
	return slices.ContainsFunc(b.result.History, func(e history.Event) bool {
		return e.Node == name || name == storage.Name && e.Kind == history.Effect && e.Node == ""
	})
}
