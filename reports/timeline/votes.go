package timeline

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"redlocksim/history"
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
	counts []count
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

func (b *builder) seating() seating {
	nodes := b.result.Scenario.Nodes
	s := seating{nodes.Names, map[string]int{}}
	for node, seat := range b.seats() {
		s.of[node] = slices.Index(nodes.Names, seat)
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
func (b *builder) tallies(held []recording.Kept) (all []tally) {
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
	s := b.seating()
	for _, v := range votes {
		all = append(all, s.counted(v, kept[v])...)
	}
	return all
}

// counted counts who keeps a value, from moment to moment: a lock that is renewed has a stretch for each renewal and node.
func (s seating) counted(v vote, kept []recording.Kept) (all []tally) {
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
			all = append(all, tally{v, append(counts, count{from: at, to: at})})
			counts = nil
		case n >= 0 && slices.Equal(counts[n].seats, c.seats): // a key that is extended is another stretch of the same vote
			counts[n].to = c.to
		default:
			counts = append(counts, c)
		}
	}
	return all
}

// addVotes adds how many nodes keep a client's value, and whether it is a quorum.
func (b *builder) addVotes(held []recording.Kept) {
	q := b.result.Quorum()
	if q == 0 {
		return
	}
	all := b.tallies(held)
	for i := range all {
		t := &all[i]
		if b.owner(t.owner) < 0 {
			continue
		}
		had := false
		for j, c := range t.counts {
			has := len(c.seats) >= q
			change := b.change(all, held, t, j, has && !had)
			had = had || has
			if len(c.seats) > 0 {
				b.votes(t, c, has, change)
			}
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
	// besides and split say in which seats two servers vote, as a label and as sentences.
	besides, split []string
	// isOnOne says that the lock is on one node, and instead which server grants it in the place of that; empty if none does.
	isOnOne bool
	instead string
}

// change is what has changed from the count before the jth of a tally. isQuorum says that it is the first to be one.
func (b *builder) change(all []tally, held []recording.Kept, t *tally, j int, isQuorum bool) (x change) {
	c := t.counts[j]
	x = change{lane: b.owner(t.owner), resource: b.named(t.key), at: Instant(c.from), left: fmt.Sprintf("%d of %d", len(c.seats), len(b.result.Scenario.Nodes.Names)), isOnOne: b.result.IsOnOne()}
	if x.lost = b.lost(all, t, j); len(x.lost) > 0 {
		x.hasForgotten = b.forgotten(x.lost, c.from)
		b.losses = append(b.losses, x)
	}
	if isQuorum {
		x.again = b.twice(all, t, c)
		x.besides, x.split = b.besides(all, held, t, c)
		if x.isOnOne && len(x.again) > 0 {
			if server := b.server(held, t.vote, x.again[0], c.from); server != x.again[0] {
				x.instead = server
			}
		}
	}
	return x
}

// label says a change in a picture; it is empty if nothing is to be said.
func (x *change) label() string {
	switch {
	case len(x.lost) > 0 && x.hasForgotten:
		return does(x.lost, "forget")
	case len(x.lost) > 0:
		return "without " + strings.Join(x.lost, ", ")
	}
	return x.votesAgain(x.besides)
}

// votesAgain says who votes again, and what else is to be said of votes that are not the first; it is empty if all are.
func (x *change) votesAgain(besides []string) string {
	var all []string
	switch {
	case len(x.again) > 0 && x.instead != "":
		all = append(all, x.instead+" grants it in the place of "+x.again[0])
	case len(x.again) > 0 && x.isOnOne:
		all = append(all, x.again[0]+" grants it again")
	case len(x.again) > 0:
		all = append(all, does(x.again, "vote")+" again")
	}
	return strings.Join(append(all, besides...), "; ")
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
		Quorum: isQuorum, voters: strings.Join(c.seats, ", "), again: x.votesAgain(x.split),
		Text: fmt.Sprintf("%s %s's value%s%s %s", who, t.owner, b.behind(" of ", t.key), kept, b.during(Instant(c.from), int64(c.to)))}, int64(c.to))
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

// lost are the seats that have gone since the count before, from a lock that its client believes in, or is going to.
func (b *builder) lost(all []tally, t *tally, j int) []string {
	if j == 0 || !b.isBelieved(all, t, t.counts[j].from) {
		return nil
	}
	var lost []string
	for _, seat := range t.counts[j-1].seats {
		if !slices.Contains(t.counts[j].seats, seat) {
			lost = append(lost, seat)
		}
	}
	return lost
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

// rivals are the votes of other clients that believe in a lock on the same resource when a count begins, by their lanes.
func (b *builder) rivals(all []tally, t *tally, c count) iter.Seq2[int, *tally] {
	return func(yield func(int, *tally) bool) {
		own, on := b.owner(t.owner), b.named(t.key)
		for lane := range b.t.Lanes {
			if lane == own {
				continue
			}
			if other := b.believedBy(all, lane, t.key, on, c.from); other != nil && !yield(lane, other) {
				return
			}
		}
	}
}

// twice are the seats of a count that voted for a lock of another client, which still believes in it, and voted anew.
func (b *builder) twice(all []tally, t *tally, c count) []string {
	var twice []string
	for _, other := range b.rivals(all, t, c) {
		for _, seat := range c.seats {
			voted := slices.ContainsFunc(other.counts, func(o count) bool { return o.to <= c.from && slices.Contains(o.seats, seat) })
			if voted && !slices.Contains(twice, seat) {
				twice = append(twice, seat)
			}
		}
	}
	return twice
}

// besides says of the seats of a count in which a server votes although another one, which has been deposed as the master and
// does not know, still keeps the vote of a client that believes in its lock.
func (b *builder) besides(all []tally, held []recording.Kept, t *tally, c count) (labels, sentences []string) {
	for lane, other := range b.rivals(all, t, c) {
		for _, seat := range c.seats {
			now, before := b.server(held, t.vote, seat, c.from), b.server(held, other.vote, seat, c.from)
			if now != "" && before != "" && now != before {
				labels = append(labels, now+b.votesOrGrants()+" beside "+before)
				sentences = append(sentences, fmt.Sprintf("%s keeps its key while %s still keeps that of %s", now, before, b.t.Lanes[lane].Name))
			}
		}
	}
	return labels, sentences
}

func (b *builder) votesOrGrants() string {
	if b.result.IsOnOne() {
		return " grants"
	}
	return " votes"
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

// isBelieved says whether at an instant the client believes in the lock that these votes are for, or is going to: they are the
// last to become a quorum before it began to, and had by then.
func (b *builder) isBelieved(all []tally, t *tally, at kernel.True) bool {
	lane := b.owner(t.owner)
	resource := b.named(t.key)
	return slices.ContainsFunc(b.t.Lanes[lane].Spans, func(s Span) bool {
		if s.Kind != believedSpan || s.Resource != resource || Instant(at) >= s.To {
			return false
		}
		on := b.basis(all, lane, t.key, s.From)
		return on.tally == t && on.since <= at
	})
}

// believedBy is the votes that the client of a lane believes in at an instant, for a key and the name of its resource.
func (b *builder) believedBy(all []tally, lane int, key, resource string, at kernel.True) *tally {
	spans := b.t.Lanes[lane].Spans
	for i := range spans {
		w := &spans[i]
		if w.Kind == believedSpan && w.Resource == resource && w.From <= Instant(at) && Instant(at) < w.To {
			return b.basis(all, lane, key, w.From).tally
		}
	}
	return nil
}

// belief is a window in which a client believes in a lock.
type belief struct {
	lane int
	key  string
	from Instant
}

// basis is the votes that a belief rests on, and since when they had been a quorum; nil if they never were.
type basis struct {
	*tally
	since kernel.True
}

// basis is the votes of a lane's client on a key that were the last to become a quorum before it began to believe. It is looked
// for once: a client that polls has thousands of votes.
func (b *builder) basis(all []tally, lane int, key string, from Instant) basis {
	at := belief{lane, key, from}
	if last, known := b.bases[at]; known {
		return last
	}
	last, needed := basis{since: -1}, b.result.Quorum()
	for i := range all {
		o := &all[i]
		if o.key != key || b.owner(o.owner) != lane {
			continue
		}
		was := false
		for _, c := range o.counts {
			is := len(c.seats) >= needed
			if is && !was && c.from > last.since && Instant(c.from) <= from {
				last = basis{o, c.from}
			}
			was = is
		}
	}
	if b.bases == nil {
		b.bases = map[belief]basis{}
	}
	b.bases[at] = last
	return last
}
