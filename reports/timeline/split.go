package timeline

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/rounded"
	"redlocksim/sim/kernel"
	"redlocksim/sim/recording"
)

// besides says of the seats of a count in which a server votes although another one, which has been deposed as the master and
// does not know, still keeps the vote of a client that believes in its lock.
func (b *builder) besides(all []tally, held []recording.Kept, t *tally, c count) (labels, sentences []string) {
	own, on := b.owner(t.owner), b.named(t.key)
	for lane := range b.t.Lanes {
		if lane == own {
			continue
		}
		other := b.believedBy(all, lane, t.key, on, c.from)
		if other == nil {
			continue
		}
		for _, seat := range c.seats {
			now, before := b.server(held, t.vote, seat, c.from), b.server(held, other.vote, seat, c.from)
			if now != "" && before != "" && now != before {
				labels = append(labels, now+" votes beside "+before)
				sentences = append(sentences, fmt.Sprintf("%s keeps its key while %s still keeps that of %s", now, before, b.t.Lanes[lane].Name))
			}
		}
	}
	return labels, sentences
}

// server is that of a seat's servers which keeps a vote at an instant; empty if none does.
func (b *builder) server(held []recording.Kept, v vote, seat string, at kernel.True) string {
	seats := b.seats()
	i := slices.IndexFunc(held, func(k recording.Kept) bool {
		return k.Owner == v.owner && k.Key == v.key && (v.value == "" || k.Value == v.value) && k.From <= at && at < k.To && seats[k.Node] == seat
	})
	if i < 0 {
		return ""
	}
	return held[i].Node
}

// seats are the nodes that vote, by the servers that stand for them: the node itself and its replicas.
func (b *builder) seats() map[string]string {
	nodes := b.result.Scenario.Nodes
	seats := map[string]string{}
	for _, name := range nodes.Names {
		seats[name] = name
	}
	for _, of := range nodes.Replicas {
		for _, replica := range of.Value {
			seats[replica] = of.Key
		}
	}
	return seats
}

// keepsFor says for how long nodes keep the keys on which these windows rest, where that is the same for all and they have a
// time to live; empty otherwise.
func (b *builder) keepsFor(windows []Witness) string {
	var lives []time.Duration
	for _, w := range windows {
		from := asked(&b.t.Lanes[w.Lane], w)
		for i := range b.t.Lanes {
			for _, s := range b.t.Lanes[i].Spans {
				if s.Kind == keySpan && s.Owner == w.Lane && s.Resource == b.t.Violation.Resource && s.From >= from && s.From <= w.From {
					lives = append(lives, time.Duration(s.Left).Truncate(time.Millisecond)) // nodes expire keys at whole milliseconds
				}
			}
		}
	}
	slices.Sort(lives)
	if lives = slices.Compact(lives); len(lives) != 1 || lives[0] == 0 {
		return ""
	}
	return rounded.Duration(lives[0]).String()
}
