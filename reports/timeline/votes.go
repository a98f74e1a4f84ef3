package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/recording"
	"redlocksim/sim/redis"
)

// vote is a value of a client's, and of its lock.
type vote struct{ owner, key, value string }

// tally is who keeps a client's value, as it changes, until nobody does. Those who vote are the seats: a node that has replicas
// is one, with them. A value that is used again has another tally then.
type tally struct {
	vote
	counts  []count
	beliefs []belief // that rest on it
}

// count is the seats that keep the value at once, in the scenario's order; none in the last of a tally, which has no length.
// One of no length has those that vote and forget in the same instant among them.
type count struct {
	from, to kernel.True
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

// taken are the seats with a stretch under way, of which there are so many at each, and some others.
func (s seating) taken(underWay, others []int) (names []string) {
	for i, name := range s.names {
		if underWay[i] > 0 || slices.Contains(others, i) {
			names = append(names, name)
		}
	}
	return names
}

// tallies counts what nodes keep; what a replica copies is not among it.
func (s seating) tallies(held []recording.Kept) (all []*tally) {
	kept := map[vote][]recording.Kept{}
	var votes []vote
	for _, k := range held {
		v := vote{k.Owner, k.Key, k.Value}
		if !redis.IsString(k.Value) {
			v.value = "" // a hash: the same lock also when its count is another
		}
		if kept[v] == nil {
			votes = append(votes, v)
		}
		kept[v] = append(kept[v], k)
	}
	for _, v := range votes {
		all = append(all, s.counted(v, kept[v])...)
	}
	return all
}

// counted counts who keeps a value, from moment to moment: a lock that is renewed has a stretch for each renewal and node.
func (s seating) counted(v vote, kept []recording.Kept) (all []*tally) {
	var times []kernel.True
	for _, k := range kept {
		times = append(times, k.From, k.To)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	begins, ends := slices.Clone(kept), slices.Clone(kept)
	slices.SortFunc(begins, func(x, y recording.Kept) int { return cmp.Compare(x.From, y.From) })
	slices.SortFunc(ends, func(x, y recording.Kept) int { return cmp.Compare(x.To, y.To) })
	underWay := make([]int, len(s.names))
	var counts []count
	for j, at := range times {
		for ; len(ends) > 0 && ends[0].To == at; ends = ends[1:] {
			if ends[0].From < at {
				underWay[s.of[ends[0].Node]]--
			}
		}
		var brief []int // the seats of stretches without a length
		for ; len(begins) > 0 && begins[0].From == at; begins = begins[1:] {
			if seat := s.of[begins[0].Node]; begins[0].To == at {
				brief = append(brief, seat)
			} else {
				underWay[seat]++
			}
		}
		if brief != nil {
			counts = append(counts, count{at, at, s.taken(underWay, brief)})
		}
		c := count{from: at, to: at}
		if j+1 < len(times) {
			c.to = times[j+1]
			c.seats = s.taken(underWay, nil)
		}
		n := len(counts) - 1
		switch {
		case len(c.seats) == 0:
			all = append(all, &tally{vote: v, counts: append(counts, count{from: at, to: at})})
			counts = nil
		case n >= 0 && slices.Equal(counts[n].seats, c.seats): // a key that is extended is another stretch of the same vote
			counts[n].to = c.to
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
	held    []recording.Kept
	beliefs []belief // by their lanes
}

// addVotes adds how many nodes keep a client's value, and whether it is a quorum.
func (b *builder) addVotes(held []recording.Kept) {
	q := b.result.Quorum()
	if q == 0 {
		return
	}
	x := &voting{builder: b, seating: b.seating(), held: held}
	all := x.tallies(held)
	x.believe(all, q)
	for _, t := range all {
		if b.owner(t.owner) < 0 {
			continue
		}
		had := false
		for j, c := range t.counts {
			has := len(c.seats) >= q
			change := x.change(t, j, has && !had)
			had = had || has
			if len(c.seats) > 0 {
				b.votes(t, c, has, change)
			}
		}
	}
}

// belief is a window in which the client of a lane believes in a lock, and the votes that it rests on: those on the key that
// were the last to become a quorum before it began, since when they had been one.
type belief struct {
	lane     int
	from, to Instant
	votes    *tally
	since    kernel.True
}

// believe finds the votes that beliefs rest on.
func (x *voting) believe(all []*tally, quorum int) {
	type lock struct {
		lane int
		key  string
	}
	quorums := map[lock][]belief{} // without the windows
	var locks []lock
	for _, t := range all {
		of := lock{x.owner(t.owner), t.key}
		if of.lane < 0 {
			continue
		}
		if quorums[of] == nil {
			locks = append(locks, of)
		}
		was := false
		for _, c := range t.counts {
			is := len(c.seats) >= quorum
			if is && !was {
				quorums[of] = append(quorums[of], belief{lane: of.lane, votes: t, since: c.from})
			}
			was = is
		}
	}
	slices.SortStableFunc(locks, func(a, b lock) int { return cmp.Compare(a.lane, b.lane) })
	for _, of := range locks {
		became := quorums[of]
		slices.SortStableFunc(became, func(a, b belief) int { return cmp.Compare(a.since, b.since) })
		for _, s := range x.t.Lanes[of.lane].Spans {
			if s.Kind != believedSpan || s.Resource != x.named(of.key) {
				continue
			}
			after, _ := slices.BinarySearchFunc(became, kernel.True(s.From)+1, func(o belief, at kernel.True) int { return cmp.Compare(o.since, at) })
			if after == 0 {
				continue // they never were
			}
			first := slices.IndexFunc(became, func(o belief) bool { return o.since == became[after-1].since })
			on := became[first]
			on.from, on.to = s.From, s.To
			x.beliefs = append(x.beliefs, on)
			on.votes.beliefs = append(on.votes.beliefs, on)
		}
	}
}

// change is why a client's votes are others than before, as far as the record tells.
type change struct {
	lane     int
	resource string
	at       Instant
	// lost are the seats whose votes are gone, from a lock that the client believes in or is going to, and left how many
	// remain. hasForgotten says that they run, and that a fault struck each of them.
	lost         []string
	left         string
	hasForgotten bool
	// again are the seats that have voted for a lock in which another client still believes.
	again []string
	// besides says in which seats two servers vote.
	besides []string
	// isOnOne says that the lock is on one node, and instead which server grants it in the place of that; empty if none does.
	isOnOne bool
	instead string
}

// change is what has changed from the count before the jth of a tally. isQuorum says that it is the first to be one.
func (x *voting) change(t *tally, j int, isQuorum bool) (d change) {
	c := t.counts[j]
	d = change{lane: x.owner(t.owner), resource: x.named(t.key), at: Instant(c.from), left: fmt.Sprintf("%d of %d", len(c.seats), len(x.names)), isOnOne: x.result.IsOnOne()}
	if j > 0 && slices.ContainsFunc(t.beliefs, func(w belief) bool { return w.since <= c.from && Instant(c.from) < w.to }) {
		for _, seat := range t.counts[j-1].seats {
			if !slices.Contains(c.seats, seat) {
				d.lost = append(d.lost, seat)
			}
		}
	}
	if len(d.lost) > 0 {
		d.hasForgotten = x.forgotten(d.lost, c.from)
	}
	if isQuorum {
		x.compare(t, c, &d)
	}
	return d
}

// compare looks for seats of a count that vote though the votes of a client that still believes in its lock are theirs: they
// have voted for it before, or another of their servers, which has been deposed as the master and does not know, still keeps
// that vote.
func (x *voting) compare(t *tally, c count, d *change) {
	last := d.lane
	for _, w := range x.beliefs {
		if w.lane == d.lane || w.lane == last || w.votes.key != t.key || w.from > d.at || d.at >= w.to {
			continue
		}
		last = w.lane // the others that it has on the key are no other votes
		for _, seat := range c.seats {
			voted := slices.ContainsFunc(w.votes.counts, func(o count) bool { return o.to <= c.from && slices.Contains(o.seats, seat) })
			if voted && !slices.Contains(d.again, seat) {
				d.again = append(d.again, seat)
			}
			now, before := x.server(t.vote, seat, c.from), x.server(w.votes.vote, seat, c.from)
			if now != "" && before != "" && now != before {
				d.besides = append(d.besides, now+map[bool]string{false: " votes", true: " grants"}[d.isOnOne]+" beside "+before)
			}
		}
	}
	if d.isOnOne && len(d.again) > 0 {
		if server := x.server(t.vote, d.again[0], c.from); server != d.again[0] {
			d.instead = server
		}
	}
}

// server is that of a seat's servers which keeps a vote at an instant; empty if none does.
func (x *voting) server(v vote, seat string, at kernel.True) string {
	i := slices.IndexFunc(x.held, func(k recording.Kept) bool {
		return k.Owner == v.owner && k.Key == v.key && (v.value == "" || k.Value == v.value) && k.From <= at && at < k.To && x.names[x.of[k.Node]] == seat
	})
	if i < 0 {
		return ""
	}
	return x.held[i].Node
}

// label says a change in a picture; it is empty if nothing is to be said.
func (x *change) label() string {
	switch {
	case len(x.lost) > 0 && x.hasForgotten:
		return does(x.lost, "forget")
	case len(x.lost) > 0:
		return "without " + strings.Join(x.lost, ", ")
	}
	var all []string
	switch {
	case len(x.again) > 0 && x.instead != "":
		all = append(all, x.instead+" grants it in the place of "+x.again[0])
	case len(x.again) > 0 && x.isOnOne:
		all = append(all, x.again[0]+" grants it again")
	case len(x.again) > 0:
		all = append(all, does(x.again, "vote")+" again")
	}
	return strings.Join(append(all, x.besides...), "; ")
}

// votes adds one count of a tally: how many there are and why they are others than before.
func (b *builder) votes(t *tally, c count, isQuorum bool, x change) {
	number, who := x.left, x.left+" nodes "+verb(c.seats, "keep")
	kept := " (" + strings.Join(c.seats, ", ") + ")"
	if x.isOnOne {
		number, who, kept = "granted", does(c.seats, "keep"), ""
	}
	label := number
	switch why := x.label(); {
	case why != "" && x.isOnOne:
		label = why
	case why != "":
		label = why + ": " + number
	}
	b.span(t.owner, Span{Kind: votesSpan, From: Instant(c.from), Owner: x.lane, Resource: x.resource, Label: label, Short: number,
		Quorum: isQuorum,
		Text:   fmt.Sprintf("%s %s's value%s%s %s", who, t.owner, b.behind(" of ", t.key), kept, b.during(Instant(c.from), int64(c.to)))}, int64(c.to))
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

// forgotten says that each of these seats, which run, has a fault at the very time at which its vote is gone.
func (b *builder) forgotten(seats []string, at kernel.True) bool {
	for _, seat := range seats {
		isHit := slices.ContainsFunc(b.result.History, func(e history.Event) bool {
			return e.Kind == history.Fault && e.Time == int64(at) && cmp.Or(e.Process, e.Node) == seat
		})
		isStopped := slices.ContainsFunc(b.t.Lanes[b.lanes[seat]].Spans, func(s Span) bool {
			return (s.Kind == downSpan || s.Kind == offSpan) && s.From <= Instant(at) && Instant(at) < s.To
		})
		if !isHit || isStopped {
			return false
		}
	}
	return true
}
