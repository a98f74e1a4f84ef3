package checker

import (
	"cmp"
	"slices"

	"redlocksim/history"
)

// accounts are the critical sections and the reads on each resource, as one of the two opinions has them.
type accounts struct {
	sections map[string][]section
	// reads are those on resources that recorded no effects.
	reads map[string][]section
}

// lookedUp are the accounts of the second opinion. [sections] follows the events from the first to the last and tracks what
// each client knows. This takes nothing from it: it starts from the recorded events, and looks back from each write to what it
// rests on.
func lookedUp(t *transcript) accounts {
	b := &ledger{t: t, recorded: map[string]bool{}, first: map[int]int{}, settled: map[int]bool{},
		of: map[int]*entries{}, told: map[int]learned{}, calls: map[actor][]int{}, blind: map[int]bool{}}
	b.read()
	a := accounts{map[string][]section{}, map[string][]section{}}
	for _, w := range b.writes {
		resource := b.on(&w)
		if b.recorded[resource] != (w.effect != 0) {
			continue // where there are effects they tell what happened
		}
		a.sections[resource] = append(a.sections[resource], b.section(w))
	}
	for _, r := range b.reads {
		o := &t.ops[r]
		if !b.recorded[o.resource] {
			a.reads[o.resource] = append(a.reads[o.resource], section{span: span{o.call, o.ret}, grant: o.grant, process: o.process,
				read: o.number, readAt: o.ret, sure: true, onlyRead: true})
		}
	}
	return a
}

// learned is something that a client came to know of a resource's number: with the event at, by the operation that was called
// with call, of what the resource held at truth.
type learned struct {
	at, call, truth int
	number          int64
	grant           int
}

// entries are what is on record of a grant, each list in the order of the events.
type entries struct {
	reads  []learned
	wrote  []learned
	unsure []int // calls of writes that may have happened or not, where no effects tell
}

// since is the last of all between two events; nil if there is none.
func since(all []learned, after, before int) *learned {
	i, _ := slices.BinarySearchFunc(all, before, func(l learned, seq int) int { return cmp.Compare(l.at, seq) })
	if i == 0 || all[i-1].at <= after {
		return nil
	}
	return &all[i-1]
}

// lastBefore is the last of some events before another; 0 if there is none.
func lastBefore(all []int, before int) int {
	i, _ := slices.BinarySearch(all, before)
	if i == 0 {
		return 0
	}
	return all[i-1]
}

// written is a write: an operation or, where effects are recorded, the accepted effect with this Seq.
type written struct {
	op, effect int
	again      bool // a later effect of the operation
	number     int64
	grant      int
	process    string
	resource   string
}

// ledger is the recorded history in an order to look things up in.
type ledger struct {
	t        *transcript
	recorded map[string]bool
	first    map[int]int      // the operation that an accepted effect is the first of, by its Seq
	settled  map[int]bool     // operations that had an effect
	calls    map[actor][]int  // reads and writes without an effect so far, by who called them
	blind    map[int]bool     // operations of which an effect rested on nothing
	of       map[int]*entries // by grant
	told     map[int]learned  // by the read that told it
	writes   []written
	reads    []int
}

func (b *ledger) grant(g int) *entries {
	if b.of[g] == nil {
		b.of[g] = &entries{}
	}
	return b.of[g]
}

func (b *ledger) on(w *written) string {
	if w.grant != 0 {
		return b.t.ops[w.grant].resource
	}
	return w.resource
}

// read takes in the events: first the effects, then what clients did and were told.
func (b *ledger) read() {
	told := map[int]int{} // the effect of each read
	for e := range b.t.Events() {
		switch {
		case e.Kind == history.Call && (e.Func == history.Read || e.Func == history.Write):
			by := actorOf(e.Grant, e.Process)
			b.calls[by] = append(b.calls[by], e.Op)
		case e.Kind == history.Effect:
			b.recorded[b.on(&written{grant: e.Grant, resource: e.Resource})] = true
			op := b.operation(e)
			if op == 0 || b.settled[op] {
				continue
			}
			b.settle(op)
			if e.Outcome == history.OK {
				b.first[e.Seq], told[op] = op, e.Seq
			}
		}
	}
	for e := range b.t.Events() {
		switch {
		case e.Func != history.Read && e.Func != history.Write:
		case e.Kind == history.Effect && e.Outcome == history.OK:
			b.effect(e)
		case e.Kind == history.Call && e.Func == history.Write:
			b.call(e)
		case e.Kind == history.Return && e.Func == history.Read && e.Outcome == history.OK:
			o := &b.t.ops[e.Op]
			l := learned{at: e.Seq, call: o.call, truth: e.Seq, number: o.number, grant: o.grant}
			if b.recorded[o.resource] {
				l.truth = told[e.Op]
			}
			b.reads = append(b.reads, e.Op)
			b.told[e.Op] = l
			if o.grant != 0 {
				g := b.grant(o.grant)
				g.reads = append(g.reads, l)
			}
		}
	}
}

// operation is the one that an effect says it is of, or else the first of its client's that is still without an effect and that
// it can be of; 0 if there is none.
func (b *ledger) operation(e *history.Event) int {
	if e.Op != 0 {
		return e.Op
	}
	for _, op := range b.calls[actorOf(e.Grant, e.Process)] {
		o := &b.t.ops[op]
		switch {
		case o.fn != e.Func || e.Resource != "" && e.Resource != o.resource:
		case e.Func == history.Write && (o.number == e.Number || o.number == 0 && o.ret == forever),
			e.Func == history.Read && (o.outcome != history.OK || e.Seq < o.ret && o.number == e.Number):
			return op
		}
	}
	return 0
}

// settle notes that an operation has had an effect.
func (b *ledger) settle(op int) {
	o := &b.t.ops[op]
	by := actorOf(o.grant, o.process)
	b.settled[op] = true
	if i := slices.Index(b.calls[by], op); i >= 0 {
		b.calls[by] = slices.Delete(b.calls[by], i, i+1)
	}
}

func (b *ledger) effect(e *history.Event) {
	op := b.first[e.Seq]
	if e.Func == history.Read {
		if op == 0 && e.Op == 0 && e.Grant != 0 { // nobody recorded the calls
			g := b.grant(e.Grant)
			g.reads = append(g.reads, learned{at: e.Seq, call: e.Seq, truth: e.Seq, number: e.Number, grant: e.Grant})
		}
		return
	}
	w := written{op: max(op, e.Op), effect: e.Seq, again: op == 0 && e.Op != 0,
		number: e.Number, grant: e.Grant, process: e.Process, resource: e.Resource}
	b.writes = append(b.writes, w)
	if e.Grant != 0 {
		l := learned{at: e.Seq, call: e.Seq, truth: e.Seq, number: e.Number, grant: e.Grant}
		if w.op != 0 {
			l.call = b.t.ops[w.op].call
		}
		g := b.grant(e.Grant)
		g.wrote = append(g.wrote, l)
	}
}

func (b *ledger) call(e *history.Event) {
	o := &b.t.ops[e.Op]
	if o.outcome == history.Failed {
		return
	}
	b.writes = append(b.writes, written{op: e.Op, number: o.number, grant: o.grant, process: o.process, resource: o.resource})
	if b.recorded[o.resource] || o.grant == 0 {
		return
	}
	if g := b.grant(o.grant); o.outcome == history.OK {
		g.wrote = append(g.wrote, learned{at: e.Seq, call: o.call, truth: o.ret, number: o.number, grant: o.grant})
	} else {
		g.unsure = append(g.unsure, e.Seq)
	}
}

// section is a write with what it rests on.
func (b *ledger) section(w written) section {
	s := section{grant: w.grant, process: w.process, wrote: w.number, applied: w.effect, sure: true}
	if w.grant != 0 {
		s.process = b.t.ops[w.grant].process
	}
	if w.effect != 0 {
		s.span = span{w.effect, w.effect}
	}
	if o := &b.t.ops[w.op]; w.op != 0 && w.effect == 0 {
		s.span, s.sure = span{o.call, o.ret}, o.outcome == history.OK
		if !s.sure {
			s.to = forever
		}
	}
	var rests *learned
	if w.grant != 0 {
		rests = b.basis(w)
	} else if named, is := b.told[b.t.ops[w.op].basis]; is && !w.again {
		rests = &named
	}
	if rests == nil {
		s.blind = true
		b.blind[w.op] = b.blind[w.op] || w.effect != 0
		return s
	}
	s.read, s.from = rests.number, rests.call
	if o := &b.t.ops[w.op]; w.op != 0 && w.effect != 0 && o.ret != forever {
		s.to = max(s.to, o.ret)
	}
	return s
}

// basis is what a write under a grant rests on; nil if on nothing.
func (b *ledger) basis(w written) *learned {
	at, now := w.effect, w.effect // when the client decided to write, and when it happened
	if w.op != 0 {
		at = b.t.ops[w.op].call
		now = max(now, at)
	}
	g := b.grant(w.grant)
	void := lastBefore(g.unsure, at) // what was known before it may be true no longer
	read, own := since(g.reads, void, at), since(g.wrote, void, now)
	if w.op != 0 && read == nil && since(g.wrote, void, at) == nil {
		if named, is := b.told[b.t.ops[w.op].basis]; is {
			read = &named
		}
	}
	if w.again && b.blind[w.op] {
		return nil // it is the same write as the one that rested on nothing
	}
	if own != nil && (read == nil || own.truth > read.truth) {
		return own
	}
	return read
}
