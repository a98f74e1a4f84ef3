package checker

import (
	"fmt"
	"slices"

	"redlocksim/sim/history"
)

// actor is who reads and writes: a grant, or a process without one.
type actor struct {
	grant   int
	process string
}

func actorOf(grant int, process string) actor {
	if grant != 0 {
		return actor{grant: grant}
	}
	return actor{process: process}
}

// section is a critical section as one operation on the resource's number: a write that the resource accepted, and what its
// client had read of the resource under the same grant before.
type section struct {
	span    // from the call of the read to the end of the write
	grant   int
	process string
	// blind: nothing was read, so that the write depends on no number.
	blind       bool
	read, wrote int64
	// readUnder is the grant under which the number was read, if that is another; own: it was not read, but the grant's
	// own write before.
	readUnder int
	own       bool
	// readAt is the Seq of the effect at which the number was read or written, and applied that of the write.
	readAt, applied int
}

// sight is what a client knows: the resource holds number, from the Seq at on. It learned so from an operation that was called
// at call. The zero value is no knowledge.
type sight struct {
	number   int64
	call, at int
	// grant is that under which it was read; own says that it was written.
	grant int
	own   bool
}

// later returns the one that is more recent.
func later(a, b sight) sight {
	if b.at > a.at {
		return b
	}
	return a
}

// content is the number that a resource holds, and the section that wrote it, if any.
type content struct {
	number int64
	last   *section
	losses []loss
}

// loss is a section that overwrote a number that it had not read.
type loss struct{ overwritten, by *section }

// replay follows the effects on the resources in their order, and what each client knows of the numbers. A section whose write
// meets another number than it rests on has lost an update.
//
// What a section has read is what a read under its grant had returned when its write was called, or what the grant itself had
// written since. If there is neither, or no grant, it is what the write names, which was read under another grant or none:
// several programs can share a process, and only they know which read a write builds on. The second effect of a write that
// arrived twice rests on what the first one did: if that was nothing it loses nothing either, and the leases say whether it was
// late. Under no grant it loses nothing.
type replay struct {
	*transcript
	// accepted are the Seqs of the effect of each operation, by its Op; 0 if it has none or was turned down. A second effect
	// is of a message that came twice.
	accepted []int
	// recorded has the resources with any effect: on these, what has no effect did not happen.
	recorded map[string]bool
	contents map[string]*content
	sections map[string]int  // how many there are on each resource
	read     map[actor]sight // by a read that returned, so far
	wrote    map[actor]sight // by a write that happened, so far
	called   map[int]sight   // by the operation under way, what was known when it was called
	seen     map[int]sight   // by the read that returned it
	blind    map[int]bool    // writes whose first effect rested on nothing
}

// addUpdates reports lost updates on the resources that recorded effects. On others nobody knows in which order writes
// happened.
func (r *Report) addUpdates(t *transcript) error {
	p := &replay{transcript: t, accepted: make([]int, len(t.ops)), recorded: map[string]bool{}, contents: map[string]*content{}, sections: map[string]int{},
		read: map[actor]sight{}, wrote: map[actor]sight{}, called: map[int]sight{}, seen: map[int]sight{}, blind: map[int]bool{}}
	arrived := make([]bool, len(t.ops))
	for i := range t.history {
		e := &t.history[i]
		if e.Kind != history.Effect {
			continue
		}
		p.recorded[t.on(e)] = true
		if e.Outcome == history.OK && !arrived[e.Op] {
			p.accepted[e.Op] = e.Seq
		}
		arrived[e.Op] = true
	}
	for i := range t.history {
		e := &t.history[i]
		var err error
		switch {
		case e.Kind == history.Effect && e.Outcome == history.OK && e.Func != history.Mark:
			err = p.effect(e)
		case e.Func != history.Read && e.Func != history.Write || e.Kind == history.Effect || !p.recorded[t.resourceOf(e)]:
		case e.Kind == history.Call:
			err = p.call(e)
		case e.Kind == history.Return:
			p.ret(e)
		}
		if err != nil {
			return malformed(e, err)
		}
	}
	for _, resource := range t.resources {
		r.Compared.Updates += max(0, p.sections[resource]-1)
		if on := p.contents[resource]; on != nil && len(on.losses) > 0 {
			r.Findings = append(r.Findings, lostUpdate(t, resource, on.losses))
		}
	}
	return nil
}

func (p *replay) call(e *history.Event) error {
	o, by := &p.ops[e.Op], actorOf(e.Grant, e.Process)
	p.called[e.Op] = p.read[by]
	if o.fn == history.Write && o.outcome != history.Failed && p.read[by].at == 0 && p.wrote[by].at == 0 {
		p.called[e.Op] = p.seen[o.basis]
	}
	return p.contradiction(e.Op, o)
}

// contradiction says how what the client was told of the operation cannot be what happened at the resource.
func (p *replay) contradiction(op int, o *operation) error {
	accepted := p.accepted[op]
	switch {
	case o.outcome == history.OK && (accepted == 0 || accepted > o.ret):
		return fmt.Errorf("%s %d succeeded, but the resource had not accepted it", o.fn, op)
	case o.outcome == history.Failed && accepted != 0:
		return fmt.Errorf("%s %d failed, but the resource accepted it", o.fn, op)
	case accepted != 0 && (o.outcome == history.OK || o.fn == history.Write && o.number != 0) &&
		p.history[accepted-1].Number != o.number:
		return fmt.Errorf("%s %d is of %d, its effect of %d", o.fn, op, o.number, p.history[accepted-1].Number)
	}
	return nil
}

func (p *replay) ret(e *history.Event) {
	o := &p.ops[e.Op]
	if o.fn != history.Read || o.outcome != history.OK {
		return
	}
	seen := sight{number: o.number, call: o.call, at: p.accepted[e.Op], grant: o.grant}
	if p.seen[e.Op] = seen; o.grant != 0 {
		p.read[actorOf(o.grant, o.process)] = seen
	}
}

// effect follows a read or write that the resource accepted. A history is refused if a read returns another number than the
// effects left in the resource.
func (p *replay) effect(e *history.Event) error {
	resource := p.on(e)
	r := p.contents[resource]
	if r == nil {
		r = &content{}
		p.contents[resource] = r
	}
	by, op := actorOf(e.Grant, e.Process), e.Op
	if e.Func == history.Read {
		if op == 0 && e.Grant != 0 {
			p.read[by] = sight{number: e.Number, call: e.Seq, at: e.Seq, grant: e.Grant}
		}
		if e.Number != r.number {
			return fmt.Errorf("read of %q gives %d where it holds %d", resource, e.Number, r.number)
		}
		return nil
	}
	s := &section{span: span{e.Seq, e.Seq}, grant: e.Grant, process: e.Process, wrote: e.Number, applied: e.Seq}
	if e.Grant != 0 {
		s.process = p.ops[e.Grant].process
	}
	call, known, again := e.Seq, p.read[by], false
	if op != 0 {
		// A message that arrived twice still rests on what was known then.
		again = p.accepted[op] != e.Seq
		call, known = p.ops[op].call, p.called[op]
		if ret := p.ops[op].ret; ret != forever {
			s.to = max(s.to, ret)
		}
	}
	if known = later(known, p.wrote[by]); again && (p.blind[op] || e.Grant == 0) {
		known = sight{}
	}
	if known.at == 0 {
		s.blind, s.to = true, e.Seq
		p.blind[op] = p.blind[op] || op != 0
	} else {
		s.read, s.readAt, s.from, s.own = known.number, known.at, known.call, known.own
		if known.grant != s.grant {
			s.readUnder = known.grant
		}
	}
	if e.Grant != 0 {
		p.wrote[by] = sight{number: e.Number, call: call, at: e.Seq, grant: e.Grant, own: true}
	}
	if !s.blind && s.read != r.number {
		r.losses = append(r.losses, loss{r.last, s})
	}
	p.sections[resource]++
	r.number, r.last = e.Number, s
	return nil
}

func lostUpdate(t *transcript, resource string, lost []loss) Finding {
	s, other := lost[0].by, lost[0].overwritten
	f := t.finding(LostUpdate, resource, span{other.applied, s.applied}, nil)
	f.Count = len(lost)
	shown := []*section{other, s}
	if s.from < other.from {
		slices.Reverse(shown)
	}
	for _, s := range shown {
		f.Windows = append(f.Windows, t.window(s.process, s.grant, s.from, s.to))
		f.Seqs = append(f.Seqs, ends(s.span, span{s.applied, forever})...)
		if !s.blind {
			f.Seqs = append(f.Seqs, s.readAt)
		}
	}
	slices.Sort(f.Seqs)
	f.Seqs = slices.Compact(f.Seqs)
	f.Text = fmt.Sprintf("%s and wrote %d%s over the %d that %s had written there.",
		s.basis(resource), s.wrote, s.writtenUnder(), other.wrote, other.writer())
	return f
}

// writer says who wrote, and under which grant.
func (s *section) writer() string {
	if s.grant == 0 {
		return s.process + ", without the lock,"
	}
	return fmt.Sprintf("%s (grant %d)", s.process, s.grant)
}

// basis says who wrote, and upon what.
func (s *section) basis(resource string) string {
	switch {
	case s.own:
		return fmt.Sprintf("%s (grant %d) had written %d to %q itself", s.process, s.grant, s.read, resource)
	case s.grant == 0:
		return fmt.Sprintf("%s read %d from %q", s.process, s.read, resource)
	case s.readUnder != 0:
		return fmt.Sprintf("%s read %d from %q under grant %d", s.process, s.read, resource, s.readUnder)
	}
	return fmt.Sprintf("%s (grant %d) read %d from %q", s.process, s.grant, s.read, resource)
}

// writtenUnder names the grant of the write where it is not that of the read.
func (s *section) writtenUnder() string {
	if s.grant == 0 {
		return " without the lock"
	}
	if s.readUnder == 0 {
		return ""
	}
	return fmt.Sprintf(" under grant %d", s.grant)
}
