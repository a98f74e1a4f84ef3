package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"redlocksim/sim/redis"
)

// vote is a value of a client's, and of its lock.
type vote struct{ owner, key, value string }

// tally is who keeps a client's value, as it changes, until nobody does. Those who vote are the seats: a node that has replicas
// is one, with them. A value that is used again has another tally then.
type tally struct {
	vote
	lane   int
	counts []count
	quorum int    // the first count that is one, by its place; -1 if none is
	rests  []Span // the beliefs that rest on it
}

// count is the seats that keep the value at once, in the scenario's order; none in the last of a tally, which has no length.
// One of no length has those that vote and forget in the same instant among them.
type count struct {
	from, to Instant
	seats    []string
}

// seating is the names of the seats, in the scenario's order, and at which of them each node votes.
type seating struct {
	names []string
	of    map[string]int
}

// seating is that of the nodes that vote: a node stands for itself, and so do its replicas.
func (b *builder) seating() seating {
	nodes := b.result.Scenario.Nodes
	s := seating{nodes.Names, map[string]int{}}
	for i, name := range nodes.Names {
		s.of[name] = i
	}
	for _, of := range nodes.Replicas {
		for _, replica := range of.Value {
			s.of[replica] = s.of[of.Key]
		}
	}
	return s
}

// tallies counts what nodes keep; what a replica copies is not among it.
func (s seating) tallies(held []kept) (all []*tally) {
	of := map[vote][]kept{}
	var votes []vote
	for _, k := range held {
		v := vote{k.owner, k.key, k.value}
		if !redis.IsString(k.value) {
			v.value = "" // a hash: the same lock also when its count is another
		}
		if of[v] == nil {
			votes = append(votes, v)
		}
		of[v] = append(of[v], k)
	}
	for _, v := range votes {
		for _, counts := range s.counted(of[v]) {
			all = append(all, &tally{vote: v, counts: counts})
		}
	}
	return all
}

// counted counts who keeps a value, from moment to moment: a lock that is renewed has a stretch for each renewal and node.
func (s seating) counted(of []kept) (all [][]count) {
	// At an instant, stretches end and others begin; those of no length are seen before they end.
	type change struct {
		at             Instant
		seat, by, rank int
	}
	var changes []change
	for _, k := range of {
		seat, ends := s.of[k.node], 0
		if k.from == k.to {
			ends = 2
		}
		changes = append(changes, change{k.from, seat, 1, 1}, change{k.to, seat, -1, ends})
	}
	slices.SortStableFunc(changes, func(x, y change) int { return cmp.Or(cmp.Compare(x.at, y.at), x.rank-y.rank) })
	keep := make([]int, len(s.names)) // how many stretches are under way at each seat
	apply := func(to int) (seats []string) {
		for len(changes) > to {
			c := changes[0]
			keep[c.seat] += c.by
			changes = changes[1:]
		}
		for i, name := range s.names {
			if keep[i] > 0 {
				seats = append(seats, name)
			}
		}
		return seats
	}
	var counts []count
	for len(changes) > 0 {
		at := changes[0].at
		after := func(rank int) int { // how many changes are left after those
			n := slices.IndexFunc(changes, func(c change) bool { return c.at > at || c.rank > rank })
			if n < 0 {
				return 0
			}
			return len(changes) - n
		}
		c := count{from: at, to: at, seats: apply(after(1))}
		if len(changes) > 0 && changes[0].at == at {
			counts = append(counts, c)
			c.seats = apply(after(2))
		}
		if len(changes) > 0 && c.seats != nil {
			c.to = changes[0].at
		}
		last := len(counts) - 1
		switch {
		case c.seats == nil:
			all = append(all, append(counts, c))
			counts = nil
		case last >= 0 && slices.Equal(counts[last].seats, c.seats):
			counts[last].to = c.to // a key that is extended is another stretch of the same vote
		default:
			counts = append(counts, c)
		}
	}
	return all
}

// voting is what nodes keep, counted, for those who ask why votes are others than before.
type voting struct {
	*builder
	seating
	held []kept
	all  []*tally // of clients
}

// addVotes adds how many nodes keep a client's value, and whether it is a quorum.
func (b *builder) addVotes(held []kept) {
	q := b.result.Quorum()
	if q == 0 {
		return
	}
	v := &voting{builder: b, seating: b.seating(), held: held}
	for _, t := range v.tallies(held) {
		if t.lane = b.owner(t.owner); t.lane >= 0 {
			t.quorum = slices.IndexFunc(t.counts, func(c count) bool { return len(c.seats) >= q })
			v.all = append(v.all, t)
		}
	}
	v.believe()
	for _, t := range v.all {
		for j, c := range t.counts {
			if len(c.seats) > 0 {
				v.span(t, j, len(c.seats) >= q)
			}
		}
	}
}

// believe finds the beliefs that rest on votes: a client's belief rests on those on its key that were the last to become a
// quorum before it began.
func (v *voting) believe() {
	type lock struct {
		lane int
		key  string
	}
	quorums := map[lock][]*tally{}
	for _, t := range v.all {
		if t.quorum >= 0 {
			of := lock{t.lane, t.key}
			quorums[of] = append(quorums[of], t)
		}
	}
	for of, some := range quorums {
		slices.SortStableFunc(some, func(a, b *tally) int { return cmp.Compare(a.since(), b.since()) })
		for _, s := range v.t.Lanes[of.lane].Spans {
			if s.Kind == believedSpan && s.Resource == v.named(of.key) {
				if last := sort.Search(len(some), func(i int) bool { return some[i].since() > s.From }) - 1; last >= 0 {
					some[last].rests = append(some[last].rests, s)
				}
			}
		}
	}
}

// since is when the votes became a quorum.
func (t *tally) since() Instant { return t.counts[t.quorum].from }

// isBelieved says that a client relies on the votes at an instant, or, if it may be later, is going to.
func (t *tally) isBelieved(at Instant, orLater bool) bool {
	return t.quorum >= 0 && t.since() <= at && slices.ContainsFunc(t.rests, func(s Span) bool { return at < s.To && (orLater || s.From <= at) })
}

// span adds a count of a tally: how many there are and why they are others than before.
func (v *voting) span(t *tally, j int, isQuorum bool) {
	c := t.counts[j]
	number := fmt.Sprintf("%d of %d", len(c.seats), len(v.names))
	who, kept := number+" nodes "+verb(c.seats, "keep"), " ("+strings.Join(c.seats, ", ")+")"
	isOnOne := v.result.IsOnOne()
	if isOnOne {
		number, who, kept = "granted", does(c.seats, "keep"), ""
	}
	label := number
	switch why := v.why(t, j); {
	case why != "" && isOnOne:
		label = why
	case why != "":
		label = why + ": " + number
	}
	v.builder.span(t.owner, Span{Kind: votesSpan, From: c.from, Owner: t.lane, Resource: v.named(t.key), Label: label, Short: number,
		Quorum: isQuorum, Text: fmt.Sprintf("%s %s's value%s%s %s", who, t.owner, v.behind(" of ", t.key), kept, v.during(c.from, c.to))}, c.to)
}

// why says why a client's votes are others than before, as far as the record tells: which are gone from a lock that it
// believes in or is going to, or, of its first quorum, which are those of another client that still believes. It is empty if
// nothing is to be said.
func (v *voting) why(t *tally, j int) string {
	c := t.counts[j]
	if j > 0 && t.isBelieved(c.from, true) {
		lost := slices.DeleteFunc(slices.Clone(t.counts[j-1].seats), func(seat string) bool { return slices.Contains(c.seats, seat) })
		switch {
		case len(lost) > 0 && v.forgotten(lost, c.from):
			return does(lost, "forget")
		case len(lost) > 0:
			return "without " + strings.Join(lost, ", ")
		}
	}
	if j != t.quorum {
		return ""
	}
	again, besides := v.votesOfOthers(t, c)
	if len(again) == 0 {
		return strings.Join(besides, "; ")
	}
	why := does(again, "vote") + " again"
	if v.result.IsOnOne() {
		why = again[0] + " grants it again"
		if server := v.server(t.vote, again[0], c.from); server != "" && server != again[0] {
			why = server + " grants it in the place of " + again[0]
		}
	}
	return strings.Join(append([]string{why}, besides...), "; ")
}

// votesOfOthers are the seats of a count that vote though the votes of a client that still believes in its lock are theirs:
// they have voted for it before, or another of their servers, which has been deposed as the master and does not know, still
// keeps that vote.
func (v *voting) votesOfOthers(t *tally, c count) (again, besides []string) {
	for _, o := range v.all {
		if o.lane == t.lane || o.key != t.key || !o.isBelieved(c.from, false) {
			continue
		}
		for _, seat := range c.seats {
			voted := slices.ContainsFunc(o.counts, func(o count) bool { return o.to <= c.from && slices.Contains(o.seats, seat) })
			if voted && !slices.Contains(again, seat) {
				again = append(again, seat)
			}
			now, before := v.server(t.vote, seat, c.from), v.server(o.vote, seat, c.from)
			if now != "" && before != "" && now != before {
				besides = append(besides, now+map[bool]string{false: " votes", true: " grants"}[v.result.IsOnOne()]+" beside "+before)
			}
		}
	}
	return again, besides
}

// server is that of a seat's servers which keeps a vote at an instant; empty if none does.
func (v *voting) server(of vote, seat string, at Instant) string {
	i := slices.IndexFunc(v.held, func(k kept) bool {
		return k.owner == of.owner && k.key == of.key && (of.value == "" || k.value == of.value) && k.from <= at && at < k.to && v.names[v.of[k.node]] == seat
	})
	if i < 0 {
		return ""
	}
	return v.held[i].node
}

// forgotten says that each of these seats, which run, has a fault at the very time at which its vote is gone.
func (v *voting) forgotten(seats []string, at Instant) bool {
	return !slices.ContainsFunc(seats, func(seat string) bool {
		l := &v.t.Lanes[v.lanes[seat]]
		isHit := slices.ContainsFunc(l.Marks, func(m Mark) bool { return m.Kind == faultMark && m.At == at })
		isStopped := slices.ContainsFunc(l.Spans, func(s Span) bool {
			return (s.Kind == downSpan || s.Kind == offSpan) && s.From <= at && at < s.To
		})
		return !isHit || isStopped
	})
}

// does is a sentence in which one or several do something.
func does(who []string, what string) string { return strings.Join(who, ", ") + " " + verb(who, what) }

// verb is what one or several do.
func verb(who []string, what string) string {
	if len(who) == 1 {
		what += "s"
	}
	return what
}
