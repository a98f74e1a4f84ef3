package scenarios

import "redlocksim/internal/strictyaml"

// Theme is what a scenario is about, in a word. Lists put scenarios of one theme together.
type Theme string

// Own is the theme of scenarios that name none: those of users.
const Own Theme = "own"

// themes are all themes, in the order of lists, with their titles.
var themes = []struct {
	word  Theme
	title string
}{
	{"single", "A lock on one Redis"},
	{"failover", "Replicas that take over"},
	{"outages", "Nodes that are down, silent or cut off"},
	{"clocks", "Clocks that jump, drift or stop"},
	{"restarts", "Nodes that come back without their memory"},
	{"pauses", "Clients that pause, and writes that are late"},
	{"fencing", "Fencing tokens"},
	{"renewal", "Leases that are renewed"},
	{"waiting", "Waiters, several locks, and batches"},
	{"calls", "What a call can run into"},
	{"others", "Other implementations, and other services"},
	{"limits", "Just inside and just outside of a limit"},
	{Own, "Your own"},
}

var _ = strictyaml.EnumOf("theme", Themes()...)

// Themes are all themes, in the order of lists.
func Themes() []Theme {
	var all []Theme
	for _, t := range themes {
		all = append(all, t.word)
	}
	return all
}

// Title is a theme for people.
func (t Theme) Title() string {
	for _, x := range themes {
		if x.word == t {
			return x.title
		}
	}
	return string(t)
}
