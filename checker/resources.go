package checker

import "slices"

// addResources measures what clients got of each resource, and how long they waited.
func (r *Report) addResources(t *transcript, o Options) {
	efforts, asked, used := t.efforts(), askings(t, o), criticalSections(t, o)
	granted, healed, holds := t.grants(), t.healed(), believe(t).holds
	for _, name := range t.resources {
		e, waits, uses := efforts[name], asked[name], used[name]
		again := reentries(uses, o)
		m := Resource{Name: name, Grants: e.grants, Clients: e.clients, Unavailable: unavailable(t, waits, uses, granted[name]),
			Takeover: longestTakeover(t, waits, uses), Attempts: mostAttempts(t, waits),
			Fairness: jain(waits, again), AfterHealing: slowestRecovery(t, waits, healed)}
		m.Unheld = unavailable(t, waits, slices.Concat(uses, usesOf(holds[name])), granted[name]).For
		m.Bypass, m.Overtakes = bypasses(t, waits, again)
		r.Grants += e.grants
		r.Resources = append(r.Resources, m)
	}
}
