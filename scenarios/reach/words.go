package reach

import (
	"fmt"
	"io"
	"strings"

	"redlocksim/internal/wordwrap"
)

// inWords is what was reached of a kind.
var inWords = map[Kind]string{Step: "steps", Fault: "faults injected", Effect: "faults made a difference", Trigger: "moments came", Rule: "checker rules had something to compare"}

// Write says for each kind how much of it was reached, and what never was. It leaves out a kind of which nothing could be
// reached. Lines fit a terminal.
func (t *Tally) Write(w io.Writer) error {
	var b strings.Builder
	c, features := &t.Reached, t.Features
	word := "reached"
	for _, k := range Kinds() {
		reached, all := c.Of(k, features)
		if all == 0 || k == Effect && t.NoEffects {
			continue
		}
		text := fmt.Sprintf("%d of %d %s", reached, all, inWords[k])
		if never := c.Never(k, features); len(never) > 0 {
			var names []string
			for _, e := range never {
				names = append(names, e.Name)
			}
			text += "; never: " + strings.Join(names, ", ")
		}
		b.WriteString(wordwrap.Help(fmt.Sprintf("%-10s", word), strings.Repeat(" ", 11), text))
		word = ""
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Warnings names the features that settings turn on and no run used.
func (t *Tally) Warnings() []string {
	var all []string
	for _, f := range t.Unused {
		all = append(all, fmt.Sprintf("the settings turn on %s, and no run used it: nothing was tested of it", f))
	}
	return all
}
