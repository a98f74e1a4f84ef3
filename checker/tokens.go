package checker

import (
	"fmt"

	"redlocksim/history"
)

// addTokens looks for fencing tokens that do not do what they are for (Kleppmann 2016): one belongs to one grant and to
// no other, a later grant has a higher one, and those of the effects that a resource accepts never fall. Grants without
// a token, and effects without one, say nothing.
func (r *Report) addTokens(t *transcript, l *leases) {
	tokens := map[string]*tokens{}
	for i := range t.events {
		e := &t.events[i]
		accepted := e.Kind == history.Effect && e.Outcome == history.OK
		granted := e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK
		if e.Token == 0 || !accepted && !granted || e.Grant == 0 && accepted {
			continue
		}
		grant := e.Grant
		if granted {
			grant = e.Op
		}
		resource := t.ops[grant].resource
		of := tokens[resource]
		if of == nil {
			of = newTokens()
			tokens[resource] = of
		}
		if granted {
			of.grant(t, l, e, grant)
		} else {
			of.effect(t, l, e, grant)
		}
	}
	for _, resource := range t.resources {
		if of := tokens[resource]; of != nil {
			for _, f := range []*Finding{of.regressed, of.repeated} {
				if f != nil {
					r.Findings = append(r.Findings, *f)
				}
			}
		}
	}
}

// holder is a grant and the event in which its token was seen.
type holder struct {
	grant int
	event *history.Event
}

// tokens is what has been seen of the tokens of one resource.
type tokens struct {
	owners              map[int64]holder
	granted, accepted   holder // with the highest token so far
	regressed, repeated *Finding
}

func newTokens() *tokens { return &tokens{owners: map[int64]holder{}} }

func (s *tokens) grant(t *transcript, l *leases, e *history.Event, grant int) {
	now := holder{grant, e}
	if owner, taken := s.owners[e.Token]; taken && owner.grant != grant {
		s.repeated = count(s.repeated, func() *Finding {
			return tokenFinding(t, l, TokenRepeated, owner, now, fmt.Sprintf("%s was granted %q with the token %d, which %s had been granted before.",
				e.Process, t.ops[grant].resource, e.Token, t.ops[owner.grant].process))
		})
	} else {
		s.owners[e.Token] = now
	}
	if len(l.windows[grant]) == 0 {
		// Its lease was over before it was reported: it may have been granted before one that was reported earlier.
		return
	}
	if high := s.granted; high.event != nil && e.Token < high.event.Token {
		s.regressed = count(s.regressed, func() *Finding {
			return tokenFinding(t, l, TokenRegressed, high, now, fmt.Sprintf("%s was granted %q with the token %d, after %s had been granted %d.",
				e.Process, t.ops[grant].resource, e.Token, t.ops[high.grant].process, high.event.Token))
		})
		return
	}
	s.granted = now
}

func (s *tokens) effect(t *transcript, l *leases, e *history.Event, grant int) {
	now := holder{grant, e}
	if high := s.accepted; high.event != nil && e.Token < high.event.Token {
		s.regressed = count(s.regressed, func() *Finding {
			return tokenFinding(t, l, TokenRegressed, high, now, fmt.Sprintf("%q accepted %s's %s with the token %d after one of %s with %d.",
				t.ops[grant].resource, e.Process, e.Func, e.Token, t.ops[high.grant].process, high.event.Token))
		})
		return
	}
	s.accepted = now
}

func tokenFinding(t *transcript, l *leases, kind Kind, earlier, later holder, text string) *Finding {
	f := &Finding{Kind: kind, Resource: t.ops[later.grant].resource, FromSeq: earlier.event.Seq, ToSeq: later.event.Seq,
		From: t.at(earlier.event.Seq), To: t.at(later.event.Seq), Seqs: []int{earlier.event.Seq, later.event.Seq}, Text: text}
	for _, h := range []holder{earlier, later} {
		window, _ := l.lastWindow(t, h.grant, later.event.Seq+1)
		f.Windows = append(f.Windows, t.window(t.ops[h.grant].process, h.grant, window.from, window.to))
	}
	return f
}
