package timeline

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/rounded"
	"redlocksim/sim/network"
	"redlocksim/sim/recording"
)

// addObstacles adds what links suffer, to the lanes of their servers: those with equal times together.
func (b *builder) addObstacles() {
	type group struct {
		recording.Obstacle
		clients []string
	}
	var groups []*group
	for _, o := range b.result.Recording.Obstacles {
		if o.From == o.To {
			continue
		}
		i := slices.IndexFunc(groups, func(g *group) bool {
			return g.Kind == o.Kind && g.Server == o.Server && g.From == o.From && g.To == o.To && g.By == o.By && g.Direction == o.Direction
		})
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{Obstacle: o})
		}
		groups[i].clients = append(groups[i].clients, o.Client)
	}
	// The two directions of the same links make one.
	var merged []*group
	for _, g := range groups {
		i := slices.IndexFunc(merged, func(m *group) bool {
			return m.Kind == g.Kind && m.Server == g.Server && m.From == g.From && m.To == g.To && m.By == g.By && m.Direction != g.Direction && m.Direction != network.Both && slices.Equal(m.clients, g.clients)
		})
		if i >= 0 {
			merged[i].Direction = network.Both
			continue
		}
		merged = append(merged, g)
	}
	for _, g := range merged {
		kind := map[recording.ObstacleKind]SpanKind{recording.Cut: cutSpan, recording.Held: heldSpan, recording.Delayed: slowSpan}[g.Kind]
		what := map[recording.ObstacleKind]string{recording.Cut: "are lost", recording.Held: "are held back", recording.Delayed: fmt.Sprintf("take %v longer", rounded.Duration(g.By))}[g.Kind]
		who := strings.Join(g.clients, ", ")
		if len(g.clients) == len(b.result.Scenario.Clients) && len(g.clients) > 2 {
			who = "all clients"
		}
		way := map[network.Direction]string{network.Requests: who + " → " + g.Server, network.Replies: g.Server + " → " + who, network.Both: who + " ↔ " + g.Server}[g.Direction]
		b.span(g.Server, Span{Kind: kind, From: Instant(g.From), Owner: -1, Label: way + " " + map[SpanKind]string{cutSpan: "lost", heldSpan: "held", slowSpan: "slow"}[kind],
			Text: fmt.Sprintf("messages %s %s %s", way, what, b.during(Instant(g.From), int64(g.To)))}, int64(g.To))
	}
}
