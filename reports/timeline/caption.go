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
