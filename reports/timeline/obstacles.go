package timeline

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/internal/rounded"
	"redlocksim/sim"
)

// addObstacles adds what links suffer, to the lanes of their servers: those with equal times together.
func (b *builder) addObstacles() {
	type group struct {
		sim.Obstacle
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
			return m.Kind == g.Kind && m.Server == g.Server && m.From == g.From && m.To == g.To && m.By == g.By && m.Direction != g.Direction && m.Direction != sim.Both && slices.Equal(m.clients, g.clients)
		})
		if i >= 0 {
			merged[i].Direction = sim.Both
			continue
		}
		merged = append(merged, g)
	}
	for _, g := range merged {
		kind := map[sim.ObstacleKind]SpanKind{sim.Cut: cutSpan, sim.Held: heldSpan, sim.Delayed: slowSpan}[g.Kind]
		what := map[sim.ObstacleKind]string{sim.Cut: "are lost", sim.Held: "are held back", sim.Delayed: fmt.Sprintf("take %v longer", rounded.Duration(g.By))}[g.Kind]
		who := strings.Join(g.clients, ", ")
		if len(g.clients) == len(b.result.Scenario.Clients) && len(g.clients) > 2 {
			who = "all clients"
		}
		way := map[sim.Direction]string{sim.Requests: who + " → " + g.Server, sim.Replies: g.Server + " → " + who, sim.Both: who + " ↔ " + g.Server}[g.Direction]
		b.span(g.Server, Span{Kind: kind, From: Instant(g.From), Owner: -1, Label: way + " " + map[SpanKind]string{cutSpan: "lost", heldSpan: "held", slowSpan: "slow"}[kind],
			Text: fmt.Sprintf("messages %s %s %s", way, what, b.during(Instant(g.From), int64(g.To)))}, int64(g.To))
	}
}
