package checker

import (
	"errors"
	"io"
	"iter"
	"sort"

	"redlocksim/sim/history"
)

// Log is a history as the rules of safety look at it: all of its events in order, or, of one that was read from a file and may
// be long, those that such rules look at.
//
// They ask what clients called and were told, when what they were told ended, and what the resource accepted. So the log of a
// file has no Steps, which are how the library came to what it told its client, and no Faults: one that matters to safety shows
// in the Expire, the Crash or the answers it causes. Name, Node and Detail belong to those or are for people, and a Span is
// what was promised, where rules go by the Expire that ended it.
type Log struct {
	kept history.History
	len  int
	last Instant
}

// whole is the log of a history that is in memory.
func whole(h history.History) *Log { return &Log{h, len(h), Instant(h[len(h)-1].Time)} }

// ErrTooLong: a history has more events than a [Log] is to hold.
var ErrTooLong = errors.New("too many events")

// maxEvents bounds a log. So many take some 800 MB, and to judge them takes several times that.
const maxEvents = 4_000_000

// ReadLog reads a history in its file format up to the end of in. Its errors are those of [history.Reader], and a
// [*history.InvalidError] that matches [ErrTooLong].
func ReadLog(in io.Reader) (*Log, error) { return readLog(in, maxEvents) }

func readLog(in io.Reader, events int) (*Log, error) {
	l := &Log{}
	r := history.NewReader(in)
	for {
		var e history.Event
		switch err := r.Next(&e); {
		case err == io.EOF:
			return l, nil
		case err != nil:
			return nil, err
		}
		l.len, l.last = e.Seq, Instant(e.Time)
		if e.Kind == history.Step || e.Kind == history.Fault {
			continue
		}
		if len(l.kept) == events {
			return nil, &history.InvalidError{Line: e.Seq, Err: ErrTooLong}
		}
		e.Name, e.Node, e.Detail, e.Span = "", "", "", 0
		l.kept = append(l.kept, e)
	}
}

// Events gives the events that are kept, which are not to be changed.
func (l *Log) Events() iter.Seq[*history.Event] {
	return func(yield func(*history.Event) bool) {
		for i := range l.kept {
			if !yield(&l.kept[i]) {
				return
			}
		}
	}
}

// Event is the one with this Seq, which must be one that [Log.Events] gives.
func (l *Log) Event(seq int) *history.Event {
	if seq <= len(l.kept) && l.kept[seq-1].Seq == seq {
		return &l.kept[seq-1] // none before it was left out
	}
	return &l.kept[sort.Search(len(l.kept), func(i int) bool { return l.kept[i].Seq >= seq })]
}

// Len is how many events the history has, with those that are not kept.
func (l *Log) Len() int { return l.len }
