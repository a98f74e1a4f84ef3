package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"redlocksim/history"
	"redlocksim/internal/plural"
	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
	"redlocksim/sim/recording"
	"redlocksim/sim/redis"
)

// addKeys adds what the nodes keep, and the times in which a quorum of them keeps a client's value.
func (b *builder) addKeys() {
	locks := map[string]bool{}
	for _, e := range b.result.History {
		if e.Kind == history.Call && e.Func == history.Acquire {
			locks[e.Resource] = true
		}
	}
	var held []recording.Kept
	for _, k := range b.result.Recording.Kept {
		if k.From == k.To {
			continue
		}
		owner, kind := b.owner(k.Owner), otherSpan
		if locks[k.Key] {
			kind = keySpan
			if !k.Copy {
				held = append(held, k)
			}
		}
		label := k.Owner
		if owner < 0 {
			label = k.Key
		}
		left := "without a time to live"
		if k.Left > 0 {
			left = fmt.Sprintf("with %v to live", k.Left.Round(time.Millisecond))
		}
		on := ""
		if kind == keySpan {
			on = b.named(k.Key)
			if on != "" && owner >= 0 {
				label += ": " + k.Key
			}
		}
		b.span(k.Node, Span{Kind: kind, Resource: on, From: Instant(k.From), Owner: owner, Key: k.Key, Left: int64(k.Left), Rate: k.Rate, Label: label,
			Text: fmt.Sprintf("%s keeps %q of %s, %s, %s", k.Node, k.Key, cmp.Or(k.Owner, "nobody"), left, b.during(Instant(k.From), int64(k.To)))}, int64(k.To))
	}
	b.addGranted(held)
}

// votesNeeded is how many nodes have to keep a value for its client to have the lock: 0 for locks that are not kept by nodes.
func votesNeeded(s *scenarios.Scenario) int {
	if quorum, voted := s.Lock.Votes(len(s.Nodes.Names)); voted {
		return quorum
	}
	if s.Lock.Capabilities().Service != "" {
		return 0
	}
	return 1
}

// vote is a value of a client's, and of its lock.
type vote struct{ owner, key, value string }

// addGranted adds the granted windows. A node that has replicas counts once, with them: those who vote are the seats, and
// what a replica copies does not count.
func (b *builder) addGranted(held []recording.Kept) {
	q := votesNeeded(b.result.Scenario)
	if q == 0 {
		return
	}
	seats := map[string]string{}
	for _, name := range b.result.Scenario.Nodes.Names {
		seats[name] = name
	}
	for _, of := range b.result.Scenario.Nodes.Replicas {
		for _, replica := range of.Value {
			seats[replica] = of.Key
		}
	}
	type change struct {
		at    kernel.True
		seat  string
		comes bool
	}
	changes := map[vote][]change{}
	var order []vote
	for _, k := range held {
		v := vote{k.Owner, k.Key, k.Value}
		if !redis.IsString(k.Value) {
			v.value = "" // a hash: the same lock also when its count is another
		}
		if changes[v] == nil {
			order = append(order, v)
		}
		changes[v] = append(changes[v], change{k.From, seats[k.Node], true}, change{k.To, seats[k.Node], false})
	}
	for _, v := range order {
		all := changes[v]
		// What comes goes before what goes at the same time: a key that is extended does not leave its node.
		slices.SortStableFunc(all, func(x, y change) int {
			return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(flag(y.comes), flag(x.comes)))
		})
		on, kept := map[string]int{}, 0
		from := kernel.True(-1)
		for _, c := range all {
			if c.comes {
				if on[c.seat]++; on[c.seat] == 1 {
					kept++
				}
			} else if on[c.seat]--; on[c.seat] == 0 {
				kept--
			}
			switch {
			case kept >= q && from < 0:
				from = c.at
			case kept < q && from >= 0:
				b.granted(v.owner, v.key, q, from, c.at)
				from = -1
			}
		}
	}
}

func flag(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (b *builder) granted(owner, resource string, q int, from, to kernel.True) {
	if from == to || b.owner(owner) < 0 {
		return
	}
	b.span(owner, Span{Kind: grantedSpan, From: Instant(from), Owner: b.owner(owner), Resource: b.named(resource), Label: "granted",
		Text: fmt.Sprintf("%s keep %s's value%s %s", plural.Count(q, "node")+" or more", owner, b.behind(" of ", resource), b.during(Instant(from), int64(to)))}, int64(to))
}
