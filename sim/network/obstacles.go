package network

import (
	"slices"
	"time"

	"redlocksim/sim/trace"
)

// SetLatency sets the distribution of delays from now on.
func (l *Link) SetLatency(d Direction, latency Latency) {
	for _, w := range l.ways(d) {
		w.latency = latency
	}
}

// Cut loses every message that is sent, or would arrive, until Mend. Cuts add up.
func (l *Link) Cut(d Direction) {
	for _, w := range l.ways(d) {
		w.cuts++
	}
	l.changed()
}

// Mend takes one Cut back.
func (l *Link) Mend(d Direction) {
	for _, w := range l.ways(d) {
		w.cuts--
	}
	l.changed()
}

// Delay adds to the delay of every message sent from now on; a negative duration takes it back. It returns the largest
// delay that is added now.
func (l *Link) Delay(d Direction, by time.Duration) time.Duration {
	var most time.Duration
	for _, w := range l.ways(d) {
		w.delays += by
		most = max(most, w.delays)
	}
	l.changed()
	return most
}

// Hold keeps back what arrives until Release. Holds add up.
func (l *Link) Hold(d Direction) {
	for _, w := range l.ways(d) {
		if w.holds++; w.holds == 1 {
			w.heldSince = l.network.k.Now()
		}
	}
	l.changed()
}

// Release delivers, in order and as the next things that happen, what was held back, once no Hold is left; what a cut is
// in the way of is lost. It returns for how long messages were held back, or by how much one of them is later in all, since it
// was sent under a Delay.
func (l *Link) Release(d Direction) time.Duration {
	var longest time.Duration
	k := l.network.k
	for _, w := range l.ways(d) {
		longest = max(longest, k.Now().Sub(w.heldSince))
		if w.holds--; w.holds > 0 {
			continue
		}
		all := w.held
		w.held = nil
		for _, h := range all {
			late := h.exchange.late(h.kind)
			*late += k.Now().Sub(h.since)
			longest = max(longest, *late)
			k.ScheduleNext(h.exchange.label(h.kind), h.exchange, int(h.kind))
		}
	}
	l.changed()
	return longest
}

// ObstaclesChanged is the event that what is in the way of a link's messages is no longer as it was, or that its connections
// were reset.
type ObstaclesChanged struct{ *Link }

func (l *Link) changed() { trace.Tell(l.network.k.Events, ObstaclesChanged{l}) }

// Split has messages of several requests, sent from now on, arrive in part, until mend is called: their first keep
// requests, or the answers to these. The rest is lost; with reset the connection is reset behind what arrives, and
// otherwise the client waits for the rest. Of several splits the one that keeps least counts.
func (l *Link) Split(d Direction, keep int, reset bool) (mend func()) {
	s := &torn{keep: keep, reset: reset}
	for _, w := range l.ways(d) {
		w.splits = append(w.splits, s)
	}
	return func() {
		for _, w := range l.ways(d) {
			w.splits = slices.DeleteFunc(w.splits, func(o *torn) bool { return o == s })
			if len(w.splits) == 0 {
				w.splits = nil
			}
		}
	}
}

// Obstacles says what is in the way of messages in one direction, Requests or Replies: whether they are lost, whether they
// are kept back, and the delay that is added.
func (l *Link) Obstacles(d Direction) (cut, held bool, delay time.Duration) {
	w := l.ways(d)[0]
	return w.cuts > 0, w.holds > 0, w.delays
}

// Takes is how long messages in one direction, Requests or Replies, take that are sent now and that nothing is in the way of.
func (l *Link) Takes(d Direction) (least, most time.Duration) {
	w := l.ways(d)[0]
	return w.latency.Min() + w.delays, w.latency.Max() + w.delays
}

// Reset breaks every connection of the link: requests and replies under way are lost, and the client is told at once,
// as the next thing that happens.
func (l *Link) Reset() {
	l.epoch++
	k := l.network.k
	for _, x := range slices.Clone(l.open) {
		x.cut = true
		l.network.met = true
		x.from.Schedule(k.Now(), x.label(RefusalMessage), delivery{x, RefusalMessage})
	}
	l.changed()
}
