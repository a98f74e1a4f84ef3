package checker

import (
	"cmp"
	"fmt"
	"slices"

	"redlocksim/sim/history"
)

// addTokens checks fencing tokens (Kleppmann 2016): a token belongs to one grant, a later grant has a higher one, and the
// tokens of the effects that a resource accepts never fall. Grants and effects without a token are not checked.
func (r *Report) addTokens(t *transcript, l *leases) {
	found := map[string]*tokens{}
	for i := range t.history {
		e := &t.history[i]
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
		of := found[resource]
		if of == nil {
			of = &tokens{}
			found[resource] = of
		}
		if granted {
			if of.granted.grant != 0 {
				r.Compared.GrantTokens++
			}
			of.grant(t, l, e, grant)
		} else {
			if of.accepted.grant != 0 && of.accepted.grant != grant {
				r.Compared.EffectTokens++
			}
			of.effect(t, l, e, grant)
		}
	}
	for _, resource := range t.resources {
		if of := found[resource]; of != nil {
			for _, f := range []*Finding{of.regressed, of.repeated} {
				if f != nil {
					r.Findings = append(r.Findings, *f)
				}
			}
		}
	}
}

// holder is a grant and the event in which its token was seen. The zero value is none.
type holder struct {
	grant, seq int
	token      int64
}

// tokens is what has been seen of the tokens of one resource.
type tokens struct {
	rising              []holder         // that were granted with a higher token than all before
	others              map[int64]holder // that were granted with another
	granted, accepted   holder           // with the highest token so far
	regressed, repeated *Finding
}

// owner is who was granted the token first.
func (s *tokens) owner(token int64) (holder, bool) {
	byToken := func(h holder, token int64) int { return cmp.Compare(h.token, token) }
	if i, found := slices.BinarySearchFunc(s.rising, token, byToken); found {
		return s.rising[i], true
	}
	h, found := s.others[token]
	return h, found
}

func (s *tokens) own(h holder) {
	if n := len(s.rising); n == 0 || h.token > s.rising[n-1].token {
		s.rising = append(s.rising, h)
		return
	}
	if s.others == nil {
		s.others = map[int64]holder{}
	}
	s.others[h.token] = h
}

func (s *tokens) grant(t *transcript, l *leases, e *history.Event, grant int) {
	now := holder{grant, e.Seq, e.Token}
	owner, taken := s.owner(e.Token)
	switch {
	case taken && owner.grant != grant:
		s.repeated = count(s.repeated, func() Finding {
			return tokenFinding(t, l, TokenRepeated, owner, now, fmt.Sprintf("%s was granted %q with the token %d, which %s had been granted before.",
				e.Process, t.ops[grant].resource, e.Token, t.ops[owner.grant].process))
		})
	case !taken:
		s.own(now)
	}
	if len(l.of(grant)) == 0 {
		// Its lease was over before it was reported: it may have been granted before one that was reported earlier.
		return
	}
	if high := s.granted; high.grant != 0 && e.Token < high.token {
		s.regressed = count(s.regressed, func() Finding {
			return tokenFinding(t, l, TokenRegressed, high, now, fmt.Sprintf("%s was granted %q with the token %d, after %s had been granted %d.",
				e.Process, t.ops[grant].resource, e.Token, t.ops[high.grant].process, high.token))
		})
		return
	}
	s.granted = now
}

func (s *tokens) effect(t *transcript, l *leases, e *history.Event, grant int) {
	now := holder{grant, e.Seq, e.Token}
	if high := s.accepted; high.grant != 0 && e.Token < high.token {
		s.regressed = count(s.regressed, func() Finding {
			return tokenFinding(t, l, TokenRegressed, high, now, fmt.Sprintf("%q accepted %s's %s with the token %d after one of %s with %d.",
				t.ops[grant].resource, e.Process, e.Func, e.Token, t.ops[high.grant].process, high.token))
		})
		return
	}
	s.accepted = now
}

func tokenFinding(t *transcript, l *leases, kind Kind, earlier, later holder, text string) Finding {
	f := t.finding(kind, t.ops[later.grant].resource, span{earlier.seq, later.seq}, []int{earlier.seq, later.seq})
	f.Text = text
	for _, h := range []holder{earlier, later} {
		window, _ := l.lastWindow(t, h.grant, later.seq+1)
		f.Windows = append(f.Windows, t.windowOf(h.grant, window))
	}
	return f
}
