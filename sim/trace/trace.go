// Package trace is what happens in a run, as one stream of events.
//
// An event is a value, and its type is its kind: package kernel has those of processes and clocks, package network those of
// messages and links, package redis those of nodes and their keys, package sim those of the world, and package
// scenarios/protocols those of locks. The event of the history is a *history.Event. What an event is about is in its fields;
// pointers lead to what is alive, as it is now.
//
// Readers are told at once, in the order in which they came, before anything else happens: the time of an event is the kernel's
// now. They change nothing, but for those that have something happen at an event, as faults do. What an event points to may be
// memory that the next one of its kind takes, and is good until the reader returns.
//
// What nobody reads is not made.
package trace

import "reflect"

// Stream is the events of a run. A nil Stream has no readers.
type Stream struct{ kinds map[reflect.Type]any }

// New makes a stream that nobody reads.
func New() *Stream { return &Stream{map[reflect.Type]any{}} }

// Kind is the events of one type in a stream. Who makes them keeps it.
type Kind[E any] struct {
	readers, last []func(E)
	begin         func()
}

// Of is the events of a type.
func Of[E any](s *Stream) *Kind[E] {
	if s == nil {
		return new(Kind[E])
	}
	t := reflect.TypeFor[E]()
	k, is := s.kinds[t].(*Kind[E])
	if !is {
		k = new(Kind[E])
		s.kinds[t] = k
	}
	return k
}

// On has read told of every event of a type from now on.
func On[E any](s *Stream, read func(E)) {
	k := Of[E](s)
	k.readers = append(k.readers, read)
	k.begins()
}

// Last is On for who makes other events of these: it is told behind all readers, so that these events come first.
func Last[E any](s *Stream, read func(E)) {
	k := Of[E](s)
	k.last = append(k.last, read)
	k.begins()
}

func (k *Kind[E]) begins() {
	if begin := k.begin; begin != nil {
		k.begin = nil
		begin()
	}
}

// WhenRead has begin called once, when the first reader comes: for events that cost something even if they are not told of.
func (k *Kind[E]) WhenRead(begin func()) { k.begin = begin }

// IsRead says whether anybody reads them.
func (k *Kind[E]) IsRead() bool { return len(k.readers)+len(k.last) > 0 }

// Tell tells the readers of an event.
func (k *Kind[E]) Tell(e E) {
	for _, read := range k.readers {
		read(e)
	}
	for _, read := range k.last {
		read(e)
	}
}

// Tell is Kind.Tell for events that are rare.
func Tell[E any](s *Stream, e E) { Of[E](s).Tell(e) }
