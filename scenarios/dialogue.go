package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"redlocksim/sim/kernel"
)

// dialogue stands for all that passed between the clients' libraries and the nodes in a run.
type dialogue struct{ lines kernel.Key }

func (d *dialogue) add(line string) { d.lines = d.lines.WithString(line) }

// firstWords makes a run on two tiers and gives the first thing that passed between libraries and nodes on one of them and not
// on the other; empty if there is none.
func firstWords(s *Scenario, o Options, a, b Tier) (string, error) {
	var lines [2][]string
	for i, tier := range []Tier{a, b} {
		_, err := Run(s, Options{Tier: tier, Seed: o.Seed, Foreign: o.Foreign, Unhashed: true, Unwatched: true, Overheard: func(line string) { lines[i] = append(lines[i], line) }})
		if err != nil {
			return "", err
		}
	}
	for i := range max(len(lines[0]), len(lines[1])) {
		var said [2]string
		for j, all := range lines {
			if i < len(all) {
				said[j] = all[i]
			}
		}
		if said[0] != said[1] {
			return "clients are told the same, and what passes between them and the nodes differs: " + passed(a, said[0]) + ", and " + passed(b, said[1]), nil
		}
	}
	return "", nil
}

// passed is a line of what passes on a tier, for people: it begins with its true time, in nanoseconds.
func passed(tier Tier, line string) string {
	at, what, is := strings.Cut(line, " ")
	ns, err := strconv.ParseInt(at, 10, 64)
	if !is || err != nil {
		return tier.on() + " nothing more"
	}
	return fmt.Sprintf("%s at %v %s", tier.on(), time.Duration(ns), strings.TrimSpace(what))
}
