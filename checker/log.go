package checker

import (
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"sort"

	"redlocksim/history"
)

// recorded is a history as the rules of safety look at it: all of its events in order, or all but those that no such rule
// looks at.
type recorded interface {
	// Events gives the events. What a pointer points to is good until the next, and not to be changed.
	Events() iter.Seq[*history.Event]
	// Event is the one with this Seq, which Events gives.
	Event(seq int) *history.Event
	// Len is how many events the history has, with those that Events leaves out.
	Len() int
	// last is the true time of the last of them.
	last() Instant
}

// memory is a history as it was recorded.
type memory history.History

func (m memory) Events() iter.Seq[*history.Event] {
	return func(yield func(*history.Event) bool) {
		for i := range m {
			if !yield(&m[i]) {
				return
			}
		}
	}
}

func (m memory) Event(seq int) *history.Event { return &m[seq-1] }
func (m memory) Len() int                     { return len(m) }
func (m memory) last() Instant                { return Instant(m[len(m)-1].Time) }

// Log is a history in a tenth of the memory, for one that comes from a file and may be long: of each event that a rule of
// safety looks at the fields it looks at, with each text once.
//
// Such rules ask what clients called and were told, when what they were told ended, and what the resource accepted. So
// there are no Steps, which are how the library came to what it told its client, and no Faults: one that matters to
// safety shows in the Expire, the Crash or the answers it causes. Name, Node and Detail belong to those or are for
// people, and a Span is what was promised, where rules go by the Expire that ended it.
type Log struct {
	chunks []chunk
	events int
	time   int64 // of the last event
	seq    int   // of the last event in chunks
	kept   int64 // its time
	names  []string
	number map[string]uint64
}

// chunk is a run of encoded events, after one with the Seq and time.
type chunk struct {
	seq  int
	time int64
	data []byte
}

// chunkSize bounds the encoded events of a chunk, in bytes; some 60 events, which is how many have to be read to find
// one by its Seq.
const chunkSize = 1 << 10

// maxRecord is what an event takes at most: its words, its fields, and nine integers.
const maxRecord = 2 + 9*binary.MaxVarintLen64

// ErrTooLong: a history has more operations, or other events, than a [Log] is to hold.
var ErrTooLong = errors.New("too many events")

// maxOperations and maxOthers bound a log. So many take some 500 MB, and to judge them takes several times that.
const (
	maxOperations = 10_000_000
	maxOthers     = 20_000_000
)

// ReadLog reads a history in its file format up to the end of in. Its errors are those of [history.Reader], and a
// [*history.InvalidError] that matches [ErrTooLong].
func ReadLog(in io.Reader) (*Log, error) { return readLog(in, maxOperations, maxOthers) }

func readLog(in io.Reader, operations, others int) (*Log, error) {
	l := &Log{number: map[string]uint64{}}
	r := history.NewReader(in)
	var e history.Event
	for {
		switch err := r.Next(&e); {
		case err == io.EOF:
			return l, nil
		case err != nil:
			return nil, err
		}
		switch e.Kind {
		case history.Call:
			operations--
		case history.Expire, history.Crash, history.Effect:
			others--
		}
		if operations < 0 || others < 0 {
			return nil, &history.InvalidError{Line: e.Seq, Err: ErrTooLong}
		}
		l.add(&e)
	}
}

// The words of the format by their numbers in an encoded event.
var (
	logKinds = [...]history.Kind{history.Call, history.Return, history.Expire, history.Crash, history.Effect}
	logFuncs = [...]history.Func{
		"", history.Acquire, history.Extend, history.Release, history.Read, history.Write, history.Mark,
	}
	logOutcomes = [...]history.Outcome{"", history.OK, history.Failed, history.Unknown}
)

// add appends e, which is valid after the events before it.
func (l *Log) add(e *history.Event) {
	l.events, l.time = e.Seq, e.Time
	if e.Kind == history.Step || e.Kind == history.Fault {
		return
	}
	if n := len(l.chunks); n == 0 || len(l.chunks[n-1].data)+maxRecord > chunkSize {
		l.chunks = append(l.chunks, chunk{l.seq, l.kept, make([]byte, 0, chunkSize)})
	}
	data := &l.chunks[len(l.chunks)-1].data
	b := append(*data, place(logKinds[:], e.Kind)|place(logFuncs[:], e.Func)<<3|place(logOutcomes[:], e.Outcome)<<6, 0)
	fields := len(b) - 1
	b = binary.AppendUvarint(b, uint64(e.Time-l.kept))
	for i, n := range [...]uint64{uint64(e.Seq - l.seq - 1), uint64(e.Op), uint64(e.Grant), l.nameNumber(e.Process),
		l.nameNumber(e.Resource), zigzag(e.Number), zigzag(e.Token), uint64(e.Basis)} {
		if n != 0 {
			b[fields] |= 1 << i
			b = binary.AppendUvarint(b, n)
		}
	}
	*data, l.seq, l.kept = b, e.Seq, e.Time
}

func place[T comparable](words []T, word T) byte {
	for i, w := range words {
		if w == word {
			return byte(i)
		}
	}
	panic("checker: a word of a valid event is not known")
}

// nameNumber numbers texts from 1; none is 0.
func (l *Log) nameNumber(text string) uint64 {
	if text == "" {
		return 0
	}
	n, ok := l.number[text]
	if !ok {
		l.names = append(l.names, text)
		n = uint64(len(l.names))
		l.number[text] = n
	}
	return n
}

func zigzag(n int64) uint64 { return uint64(n)<<1 ^ uint64(n>>63) }

func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// next decodes the event at the beginning of data into e, which has the Seq and time of the one before, and returns what
// follows it.
func (l *Log) next(data []byte, e *history.Event) []byte {
	words, fields := data[0], data[1]
	data = data[2:]
	later, n := binary.Uvarint(data)
	data = data[n:]
	var values [8]uint64
	for i := range values {
		if fields&(1<<i) != 0 {
			values[i], n = binary.Uvarint(data)
			data = data[n:]
		}
	}
	name := func(n uint64) string {
		if n == 0 {
			return ""
		}
		return l.names[n-1]
	}
	*e = history.Event{
		Seq: e.Seq + 1 + int(values[0]), Time: e.Time + int64(later),
		Kind: logKinds[words&7], Func: logFuncs[words>>3&7], Outcome: logOutcomes[words>>6],
		Op: int(values[1]), Grant: int(values[2]), Process: name(values[3]), Resource: name(values[4]),
		Number: unzigzag(values[5]), Token: unzigzag(values[6]), Basis: int(values[7]),
	}
	return data
}

// Events gives the events that are kept. What a pointer points to is good until the next.
func (l *Log) Events() iter.Seq[*history.Event] {
	return func(yield func(*history.Event) bool) {
		var e history.Event
		for _, b := range l.chunks {
			for data := b.data; len(data) > 0; {
				if data = l.next(data, &e); !yield(&e) {
					return
				}
			}
		}
	}
}

// Event is the one with this Seq, which must be one that [Log.Events] gives.
func (l *Log) Event(seq int) *history.Event {
	b := &l.chunks[sort.Search(len(l.chunks), func(i int) bool { return l.chunks[i].seq >= seq })-1]
	e := &history.Event{Seq: b.seq, Time: b.time}
	for data := b.data; e.Seq < seq; {
		data = l.next(data, e)
	}
	return e
}

// Len is how many events the history has, with those that are not kept.
func (l *Log) Len() int { return l.events }

func (l *Log) last() Instant { return Instant(l.time) }
