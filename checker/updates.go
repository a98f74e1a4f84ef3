package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anishathalye/porcupine"

	"redlocksim/sim/history"
)

// registerModel is a resource with one number, which a section replaces if it is the number it read. A section that may not
// have been applied is legal on any number; if it was not, its place is after all others, as its interval has no end.
func registerModel(initial int64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, _ any) (bool, any) {
			s := input.(*section)
			if s.onlyRead {
				return s.read == state.(int64), state
			}
			if s.blind || s.read == state.(int64) {
				return true, s.wrote
			}
			return !s.sure, state
		},
	}
}

// loss is a section that overwrote a number that it had not read; overwritten is the section that wrote it, if known.
type loss struct{ overwritten, by *section }

// replay follows the effects on every resource in their order. A section whose write meets another number than it read has lost
// an update. A history is refused if a read returns another number than the effects left in the resource.
func replay(t *transcript, found map[string][]section, initial int64) (map[string][]loss, error) {
	byEffect := map[int]*section{}
	for _, sections := range found {
		for i := range sections {
			if sections[i].applied != 0 {
				byEffect[sections[i].applied] = &sections[i]
			}
		}
	}
	type register struct {
		number int64
		last   *section
	}
	registers := map[string]*register{}
	losses := map[string][]loss{}
	for e := range t.Events() {
		if e.Kind != history.Effect || e.Outcome != history.OK || e.Func == history.Mark {
			continue
		}
		resource := t.on(e)
		r := registers[resource]
		if r == nil {
			r = &register{number: initial}
			registers[resource] = r
		}
		if e.Func == history.Read {
			if e.Number != r.number {
				return nil, malformed(e, fmt.Errorf("read of %q gives %d where it holds %d", resource, e.Number, r.number))
			}
			continue
		}
		s := byEffect[e.Seq]
		if s != nil && !s.blind && s.read != r.number { // nil is a write that no section explains
			losses[resource] = append(losses[resource], loss{r.last, s})
		}
		r.number, r.last = e.Number, s
	}
	return losses, nil
}

// exact reports whether on these sections porcupine, which knows only intervals, must agree with a replay that finds a
// loss. It need not where a number comes back, or where a write depends on nothing: then another order than the one in
// which the writes were applied may explain what was read. A replay without a loss is such an order itself, so that
// there porcupine must always agree.
func exact(sections []section, initial int64) bool {
	written := map[int64]bool{initial: true}
	for i := range sections {
		s := &sections[i]
		if s.blind || written[s.wrote] {
			return false
		}
		written[s.wrote] = true
	}
	return true
}

// addUpdates reports lost updates and stale reads. On resources that recorded effects lost updates are found by a replay of the
// sections, and porcupine agrees. On others, and for stale reads, porcupine judges.
func (r *Report) addUpdates(t *transcript, o Options) error {
	a := apply(t)
	found, err := sections(t, a)
	if err != nil {
		return err
	}
	losses, err := replay(t, found, o.Initial)
	if err != nil {
		return err
	}
	reads := reads(t, a)
	for _, resource := range t.resources {
		if err := r.addUpdatesOf(t, o, resource, a.recorded[resource], found[resource], reads[resource], losses[resource]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) addUpdatesOf(
	t *transcript, o Options, resource string, recorded bool, sections, reads []section, lost []loss,
) error {
	serial, why := explained(sections, o)
	if len(sections) > 1 {
		r.Compared.Updates += len(sections) - 1
		if serial != unknown {
			r.Compared.SecondOpinions++
		}
	}
	switch {
	case serial == unknown:
		r.Unchecked = append(r.Unchecked, Unchecked{Kind: LostUpdate, Resource: resource, Why: why,
			Decided: recorded || len(sections) == 0})
	case recorded && (serial == no && len(lost) == 0 || serial == yes && len(lost) > 0 && exact(sections, o.Initial)):
		return &DisagreeError{Kind: LostUpdate, Resource: resource, Direct: len(lost) > 0, Linearizable: serial == no}
	case !recorded && serial == no:
		lost = []loss{suspects(sections, o.Initial)}
	case serial == yes && len(reads) > 0:
		switch stale, why := staleRead(sections, reads, o); {
		case why != "":
			r.Unchecked = append(r.Unchecked, Unchecked{Kind: StaleRead, Resource: resource, Why: why})
		case stale != nil:
			r.Findings = append(r.Findings, t.staleRead(resource, stale))
		}
	}
	if len(lost) > 0 {
		r.Findings = append(r.Findings, lostUpdate(t, resource, lost))
	}
	return nil
}

// explained asks porcupine whether some order of the sections gives each the number that it read.
func explained(sections []section, o Options) (answer, string) {
	return linearizable(registerModel(o.Initial), len(sections), o, func() []porcupine.Operation {
		ops := make([]porcupine.Operation, len(sections))
		for i := range sections {
			ops[i] = porcupine.Operation{Input: &sections[i], Call: int64(sections[i].from), Return: int64(sections[i].to)}
		}
		return ops
	})
}

// staleRead finds the first of the reads, in the order in which they returned, that no order of them and the sections
// explains, though one explains the sections; nil if there is none. If porcupine gives up, it says why.
func staleRead(sections, reads []section, o Options) (*section, string) {
	with := func(n int) (answer, string) { return explained(slices.Concat(sections, reads[:n]), o) }
	switch all, why := with(len(reads)); all {
	case yes:
		return nil, ""
	case unknown:
		return nil, why
	}
	// The first n reads are explained, the first most are not.
	n, most := 0, len(reads)
	for most-n > 1 {
		middle := (n + most) / 2
		switch some, why := with(middle); some {
		case unknown:
			return nil, why
		case yes:
			n = middle
		default:
			most = middle
		}
	}
	return &reads[n], ""
}

func (t *transcript) staleRead(resource string, s *section) Finding {
	under := ""
	if s.grant != 0 {
		under = fmt.Sprintf(" (grant %d)", s.grant)
	}
	f := t.finding(StaleRead, resource, s.span, ends(s.span), t.window(s.process, s.grant, s.from, s.to))
	f.Count = 1
	f.Text = fmt.Sprintf("%s%s read %d from %q, which no order of the writes before and the reads explains.",
		s.process, under, s.read, resource)
	return f
}

// suspects names sections of a resource without effects that cannot all be atomic: two that read the same number; or
// else one that read what nobody wrote; or else the last to end of those that read. There is one, as only they can be
// illegal.
func suspects(sections []section, initial int64) loss {
	var readers []*section
	written := map[int64]bool{initial: true}
	for i := range sections {
		s := &sections[i]
		written[s.wrote] = true
		if s.sure && !s.blind {
			readers = append(readers, s)
		}
	}
	slices.SortStableFunc(readers, func(a, b *section) int { return cmp.Compare(a.to, b.to) })
	readerOf := map[int64]*section{}
	for _, s := range readers {
		if first := readerOf[s.read]; first != nil {
			return loss{first, s}
		}
		if s.wrote != s.read {
			readerOf[s.read] = s
		}
	}
	for _, s := range readers {
		if !written[s.read] {
			return loss{nil, s}
		}
	}
	return loss{nil, readers[len(readers)-1]}
}

func lostUpdate(t *transcript, resource string, lost []loss) Finding {
	s, other := lost[0].by, lost[0].overwritten
	f := Finding{Kind: LostUpdate, Resource: resource, Count: len(lost)}
	written := func(s *section) int {
		if s.applied != 0 {
			return s.applied
		}
		return s.to
	}
	show := func(s *section) {
		f.Windows = append(f.Windows, t.window(s.process, s.grant, s.from, s.to))
		f.Seqs = append(f.Seqs, ends(span{s.from, s.to}, span{written(s), forever})...)
		if !s.blind {
			f.Seqs = append(f.Seqs, s.readAt)
		}
	}
	from := s.readAt
	if other == nil {
		show(s)
		f.Text = fmt.Sprintf("%s and wrote %d%s, which no order of the critical sections explains.",
			s.basis(resource), s.wrote, s.writtenUnder())
	} else {
		from = written(other)
		if s.from < other.from {
			show(s)
			show(other)
		} else {
			show(other)
			show(s)
		}
		f.Text = fmt.Sprintf("%s and wrote %d%s over the %d that %s had written there.",
			s.basis(resource), s.wrote, s.writtenUnder(), other.wrote, other.writer())
		if s.applied == 0 {
			f.Text = fmt.Sprintf("%s and wrote %d%s; %s and wrote %d%s. No order explains both.",
				other.basis(resource), other.wrote, other.writtenUnder(), s.basis(resource), s.wrote, s.writtenUnder())
		}
	}
	slices.Sort(f.Seqs)
	f.Seqs = slices.Compact(f.Seqs)
	w := t.window("", 0, from, written(s))
	f.FromSeq, f.ToSeq, f.From, f.To = w.FromSeq, w.ToSeq, w.From, w.To
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
