package timeline

import (
	"fmt"
	"strings"
)

// IsAlarm says that the run shows a lock that does not hold, or something else than was expected of it although this is no
// trial.
func (t *Timeline) IsAlarm() bool { return t.isBad() || !t.OK && !t.IsTrial }

// IsKnown says that the run shows a lock that does not hold, as was expected of it.
func (t *Timeline) IsKnown() bool { return t.OK && t.isBad() }

func (t *Timeline) isBad() bool { return t.Violation != nil || t.isBroken }

// Headline says what the run showed, and what was expected of it. What was expected is no alarm.
func (t *Timeline) Headline() string {
	switch {
	case t.OK:
		return t.headline
	case t.IsTrial:
		return t.Verdict + " (the file expects: " + t.Expected + ")"
	}
	return t.headline + " (expected: " + t.Expected + ")"
}

// Description says what can be seen, for those who cannot see it: the violation and the story.
func (t *Timeline) Description() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. ", t.Headline())
	if t.Violation != nil {
		fmt.Fprintf(&b, "%s ", t.Violation.Text)
	}
	for _, s := range t.Story {
		if s.At >= t.Focus.From && s.At <= t.Focus.To {
			fmt.Fprintf(&b, "%d. %s %s. ", s.Number, seconds(s.At), s.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

// notesOn are the notes of a picture that shows only a stretch.
func (t *Timeline) notesOn(s Stretch) []string {
	notes := t.Notes
	if s.From > t.From || s.To < t.To {
		notes = append(notes[:len(notes):len(notes)], fmt.Sprintf("This is %s to %s of %s.", seconds(s.From), seconds(s.To), seconds(t.To)))
	}
	return append(notes[:len(notes):len(notes)], "The axis is stretched where much happens; the times on it are true times.")
}

// sign is an entry of the legend: an example, 26 pixels wide and 12 high, and what it means.
type sign struct{ drawing, text string }

// legend explains what the timeline has of signs.
func legend(t *Timeline) []sign {
	spans, marks, fates, tooFew := map[SpanKind]bool{}, map[MarkKind]bool{}, map[Fate]bool{}, false
	for i := range t.Lanes {
		for _, s := range t.Lanes[i].Spans {
			spans[s.Kind] = true
			tooFew = tooFew || s.Kind == votesSpan && !s.Quorum
		}
		for _, m := range t.Lanes[i].Marks {
			marks[m.Kind] = true
		}
	}
	for i := range t.Arrows {
		fates[t.Arrows[i].Fate] = true
	}
	all := []struct {
		is bool
		sign
	}{
		{spans[askingSpan], sign{`<g class="span asking c0"><rect y="4" width="26" height="4"/></g>`, "requests the lock"}},
		{spans[pollingSpan], sign{`<g class="span polling c0"><rect x="1" y="1" width="24" height="10"/></g>`, "attempts in a row that are not granted the lock"}},
		{spans[believedSpan], sign{`<g class="span believed c0"><rect x="1" y="1" width="24" height="10"/></g>`, "the client believes it has the lock"}},
		{spans[votesSpan], sign{`<g class="span votes quorum c0"><rect x="1" y="1" width="24" height="10"/></g>`, map[bool]string{false: "its votes: a quorum of nodes keeps its key", true: "the lock is granted: the node keeps its key"}[t.IsOnOne]}},
		{tooFew, sign{`<g class="span votes c0"><rect x="1" y="1" width="24" height="10"/></g>`, "fewer than a quorum"}},
		{spans[actingSpan], sign{`<g class="span acting c0"><rect y="4" width="26" height="4"/></g><g class="mark accepted" transform="translate(13 1)"><path d="M0 9-4 2H4z"/></g>`, "it acts: the resource accepts an effect"}},
		{marks[refusedMark], sign{`<g class="mark refused" transform="translate(13)"><path d="M-4 2 4 10M4 2-4 10"/></g>`, "an effect is rejected"}},
		{spans[keySpan], sign{`<g class="span key c0"><rect x="1" y="1" width="24" height="10"/></g>`, "a node keeps the client's key"}},
		{len(t.Arrows) > 0, sign{`<line class="arrow c0 arrived" x1="0" y1="2" x2="25" y2="10"/>`, "request"}},
		{len(t.Arrows) > 0, sign{`<line class="arrow c0 arrived reply" x1="0" y1="10" x2="25" y2="2"/>`, "reply"}},
		{fates[lostFate], sign{`<line class="arrow c0 lost" x1="0" y1="2" x2="18" y2="7"/>`, "lost"}},
		{fates[tooLateFate], sign{`<line class="arrow c0 too-late reply" x1="0" y1="10" x2="25" y2="2"/>`, "too late"}},
		{spans[cutSpan] || spans[heldSpan] || spans[slowSpan], sign{`<g class="span cut"><rect x="1" y="1" width="24" height="10"/></g>`, "messages lost, held or slow"}},
		{spans[pausedSpan] || spans[suspendedSpan] || spans[crashedSpan] || spans[downSpan] || spans[offSpan], sign{`<g class="span paused"><rect width="26" height="12"/></g>`, "paused, down or crashed"}},
		{marks[faultMark] || marks[crashMark], sign{`<g class="mark fault" transform="translate(8)"><path d="M0 0V12M0 0 8 4 0 8z"/></g>`, "fault"}},
		{t.Violation != nil, sign{`<g class="violation"><rect class="band" x="1" width="24" height="12"/></g>`, "the violation"}},
	}
	var signs []sign
	for _, s := range all {
		if s.is {
			signs = append(signs, s.sign)
		}
	}
	return signs
}
