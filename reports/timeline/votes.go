package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"redlocksim/history"
	"redlocksim/internal/plural"
	"redlocksim/scenarios"
	"redlocksim/sim/kernel"
	"redlocksim/sim/recording"
	"redlocksim/sim/redis"
)

// vote is a value of a client's, and of its lock.
type vote struct{ owner, key, value string }

// tally is who keeps a client's value, as it changes. Those who vote are the seats: a node that has replicas is one, with
// them.
type tally struct {
	vote
	counts []count
}

// count is the seats that keep the value at once, in the scenario's order; none in between two times in which some do. One of
// no length has those that vote and forget in the same instant among them.
type count struct {
	from, to kernel.True
	seats    []string
}

// tallies counts what nodes keep; what a replica copies is not among it.
func (b *builder) tallies(held []recording.Kept) []tally {
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
	kept := map[vote][]recording.Kept{}
	// among are the seats of which a stretch of a value is as asked.
	among := func(v vote, is func(k *recording.Kept) bool) []string {
		return slices.DeleteFunc(slices.Clone(nodes.Names), func(name string) bool {
			return !slices.ContainsFunc(kept[v], func(k recording.Kept) bool { return seats[k.Node] == name && is(&k) })
		})
	}
	var all []tally
	for _, k := range held {
		v := vote{k.Owner, k.Key, k.Value}
		if !redis.IsString(k.Value) {
			v.value = "" // a hash: the same lock also when its count is another
		}
		if kept[v] == nil {
			all = append(all, tally{vote: v})
		}
		kept[v] = append(kept[v], k)
	}
	for i := range all {
		t := &all[i]
		var times []kernel.True
		for _, k := range kept[t.vote] {
			times = append(times, k.From, k.To)
		}
		slices.Sort(times)
		times = slices.Compact(times)
		for j, at := range times {
			if slices.ContainsFunc(kept[t.vote], func(k recording.Kept) bool { return k.From == at && k.To == at }) {
				t.counts = append(t.counts, count{at, at, among(t.vote, func(k *recording.Kept) bool { return k.From <= at && (at < k.To || k.From == at) })})
			}
			if j == len(times)-1 {
				break
			}
			c := count{from: at, to: times[j+1]}
			c.seats = among(t.vote, func(k *recording.Kept) bool { return k.From <= c.from && c.to <= k.To })
			// A key that is extended is another stretch of the same vote.
			if n := len(t.counts) - 1; n >= 0 && slices.Equal(t.counts[n].seats, c.seats) {
				t.counts[n].to = c.to
			} else {
				t.counts = append(t.counts, c)
			}
		}
	}
	return all
}

// addVotes adds how many nodes keep a client's value, and the times in which it is a quorum.
func (b *builder) addVotes(held []recording.Kept) {
	q := votesNeeded(b.result.Scenario)
	if q == 0 {
		return
	}
	all := b.tallies(held)
	for i := range all {
		t := &all[i]
		if b.owner(t.owner) < 0 {
			continue
		}
		from := kernel.True(-1)
		for j, c := range t.counts {
			if len(c.seats) > 0 {
				b.votes(all, t, j, q)
			}
			if len(c.seats) >= q && from < 0 {
				from = c.from
			}
			if from >= 0 && (len(c.seats) < q || j == len(t.counts)-1) {
				to := c.to
				if len(c.seats) < q {
					to = c.from
				}
				b.granted(t.owner, t.key, q, from, to)
				from = -1
			}
		}
	}
}

func (b *builder) granted(owner, resource string, q int, from, to kernel.True) {
	if from == to {
		return
	}
	b.span(owner, Span{Kind: grantedSpan, From: Instant(from), Owner: b.owner(owner), Resource: b.named(resource), Label: "granted",
		Text: fmt.Sprintf("%s keep %s's value%s %s", plural.Count(q, "node")+" or more", owner, b.behind(" of ", resource), b.during(Instant(from), int64(to)))}, int64(to))
}

// votes adds one count of a tally: how many there are and, where the record tells, why they are other than before.
func (b *builder) votes(all []tally, t *tally, j, q int) {
	c, n := t.counts[j], len(b.result.Scenario.Nodes.Names)
	number := fmt.Sprintf("%d of %d", len(c.seats), n)
	label := number
	if n == 1 {
		label = "granted"
	}
	change, isAgain := "", false
	if lost := b.lost(all, t, j); len(lost) > 0 {
		change = "without " + strings.Join(lost, ", ")
		if b.forgotten(lost, c.from) {
			change = does(lost, "forget")
		}
	}
	if again := b.twice(all, t, c); len(again) > 0 && len(c.seats) >= q {
		change, isAgain = does(again, "vote")+" again", true
	}
	if change != "" {
		label = change + ": " + number
	}
	b.span(t.owner, Span{Kind: votesSpan, From: Instant(c.from), Owner: b.owner(t.owner), Resource: b.named(t.key), Label: label, Short: number,
		Quorum: len(c.seats) >= q, voters: strings.Join(c.seats, ", "), change: change, isAgain: isAgain,
		Text: fmt.Sprintf("%s of %d keep %s's value%s (%s) %s", plural.Count(len(c.seats), "node"), n, t.owner, b.behind(" of ", t.key), strings.Join(c.seats, ", "), b.during(Instant(c.from), int64(c.to)))}, int64(c.to))
}

// does is a sentence in which one or several do something.
func does(who []string, verb string) string {
	if len(who) == 1 {
		verb += "s"
	}
	return strings.Join(who, ", ") + " " + verb
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

// twice are the seats of a count that voted for a lock of another client, which still believes in it, and voted anew.
func (b *builder) twice(all []tally, t *tally, c count) []string {
	var twice []string
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
			voted := slices.ContainsFunc(other.counts, func(o count) bool { return o.to <= c.from && slices.Contains(o.seats, seat) })
			if voted && !slices.Contains(twice, seat) {
				twice = append(twice, seat)
			}
		}
	}
	return twice
}

// isBelieved says whether at an instant the client believes in the lock that these votes are for, or is going to: they are the
// last to become a quorum before it began to.
func (b *builder) isBelieved(all []tally, t *tally, at kernel.True) bool {
	lane := b.owner(t.owner)
	if lane < 0 {
		return false
	}
	resource := b.named(t.key)
	return slices.ContainsFunc(b.t.Lanes[lane].Spans, func(s Span) bool {
		return s.Kind == believedSpan && s.Resource == resource && Instant(at) < s.To && b.basis(all, lane, t.key, s.From) == t
	})
}

// believedBy is the votes that the client of a lane believes in at an instant, for a key and the name of its resource.
func (b *builder) believedBy(all []tally, lane int, key, resource string, at kernel.True) *tally {
	spans := b.t.Lanes[lane].Spans
	for i := range spans {
		w := &spans[i]
		if w.Kind == believedSpan && w.Resource == resource && w.From <= Instant(at) && Instant(at) < w.To {
			return b.basis(all, lane, key, w.From)
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

// basis is the votes of a lane's client on a key that were the last to become a quorum before it began to believe; nil if none
// were. It is looked for once: a client that polls has thousands of votes.
func (b *builder) basis(all []tally, lane int, key string, from Instant) *tally {
	at := belief{lane, key, from}
	last, known := b.bases[at]
	if known {
		return last
	}
	latest, needed := kernel.True(-1), votesNeeded(b.result.Scenario)
	for i := range all {
		o := &all[i]
		if o.key != key || b.owner(o.owner) != lane {
			continue
		}
		for _, c := range o.counts {
			if len(c.seats) >= needed && c.from > latest && Instant(c.from) <= from {
				last, latest = o, c.from
			}
		}
	}
	if b.bases == nil {
		b.bases = map[belief]*tally{}
	}
	b.bases[at] = last
	return last
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
