package timeline

import (
	"fmt"
	"strings"
)

// Verdicts says what the run showed, and what was expected of it.
func (t *Timeline) Verdicts() string {
	if t.OK {
		return "verdict: " + t.Verdict + ", as expected"
	}
	if t.IsTrial {
		return "verdict: " + t.Verdict + " (the file expects " + t.Expected + ")"
	}
	return "verdict: " + t.Verdict + ", NOT AS EXPECTED (" + t.Expected + ")"
}

// IsAlarm says that the run shows a violation, or something else than was expected of it although this is no trial.
func (t *Timeline) IsAlarm() bool { return t.Violation != nil || !t.OK && !t.IsTrial }

// IsKnown says that the run shows a violation that was expected of it.
func (t *Timeline) IsKnown() bool { return t.OK && t.Violation != nil }

// Headline says what the run showed. For a violation that was expected it says so, or that others have published it, and is no
// alarm.
func (t *Timeline) Headline() string {
	if !t.IsKnown() {
		return t.Verdicts()
	}
	what := strings.ReplaceAll(t.Violation.Kind, "-", " ")
	switch t.Violation.Kind {
	case "lease-overlap":
		what = "two holders"
	case "stale-write":
		what = "a stale write"
	}
	if !t.isPublished {
		return what + ": the expected result (" + t.Verdicts() + ")"
	}
	return what + ": the published result (" + t.Verdicts() + ")"
}

// Description says what can be seen, for those who cannot see it: the violation and the story.
func (t *Timeline) Description() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. ", t.Verdicts())
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
