package mutants

// semaphores lists the bugs of package semaphore, in the order of its files.
var semaphores = []Mutant{
	{
		Name: "a-permit-too-many",
		Bug:  "a semaphore has one permit more than it is made with",
		Edits: []Edit{
			{"redlock/semaphore/semaphore.go", "leases: make([]*redlock.Lease, permits)", "leases: make([]*redlock.Lease, permits+1)"},
			{"redlock/semaphore/semaphore.go", "for i := range permits {", "for i := range permits + 1 {"},
		},
		Killers: []string{"119-semaphore/contention"},
	},
	{
		Name:    "permits-outlast-a-closed-client",
		Bug:     "a call that waits for a permit does not end when the client is closed",
		Edits:   []Edit{{"redlock/semaphore/look.go", "\treturn c, end, err\n", "\tc.waiting = ctx\n\treturn c, end, err\n"}},
		Killers: []string{"119-semaphore/closed"},
	},
	{
		Name:    "permit-forgotten",
		Bug:     "a permit whose release is refused counts as given back",
		Edits:   []Edit{{"redlock/semaphore/semaphore.go", "	if ctx == nil {\n\t\treturn p.Lease", "	if ctx == nil && false {\n\t\treturn p.Lease"}},
		Killers: []string{"119-semaphore/refused-release"},
	},
	{
		Name:    "nobody-is-told-of-a-permit",
		Bug:     "who waits for a permit is not woken when one is given back in the same client",
		Edits:   []Edit{{"redlock/semaphore/semaphore.go", "\ts.mu.Unlock()\n\ts.queue.wake()", "\ts.mu.Unlock()"}},
		Killers: []string{"119-semaphore/in-order"},
	},
	{
		Name:    "permit-for-longer",
		Bug:     "a permit is asked for with another TTL than the caller's",
		Edits:   []Edit{{"redlock/semaphore/look.go", "c.slots[slot], c.ttl)", "c.slots[slot], 2*c.ttl)"}},
		Killers: []string{"119-semaphore/gives-up"},
	},
	{
		Name:    "next-permit-without-a-quorum",
		Bug:     "where too few nodes answer, a call asks for the next permit at once",
		Edits:   []Edit{{"redlock/semaphore/look.go", "\t\tif !isOfOne(failed) {", "\t\tif failed.Cause != nil {"}},
		Killers: []string{"119-semaphore/no-quorum"},
	},
	{
		Name:    "no-permit-where-one-has-no-quorum",
		Bug:     "a look ends with a permit for which there is no quorum because others have votes for it",
		Edits:   []Edit{{"redlock/semaphore/look.go", "return failed.Reason == redlock.ErrNoQuorum && others &&", "return false && others &&"}},
		Killers: []string{"119-semaphore/one-down"},
	},
	{
		Name:    "error-of-a-permit",
		Bug:     "the error of a call is about the permit that it asked for last",
		Edits:   []Edit{{"redlock/semaphore/look.go", "e.Resource, e.Attempts = c.name, c.attempts", "e.Attempts = c.attempts"}},
		Killers: []string{"119-semaphore/gives-up"},
	},
	{
		Name:    "permits-not-looked-at",
		Bug:     "a look ends with the first permit, although others may be free",
		Edits:   []Edit{{"redlock/semaphore/look.go", "	return order, nil", "	return order[:min(1, len(order))], nil"}},
		Killers: []string{"119-semaphore/contention", "119-semaphore/gives-up"},
	},
	{
		Name:    "own-permits-asked-for",
		Bug:     "a call asks for permits that its client holds",
		Edits:   []Edit{{"redlock/semaphore/look.go", "if !s.isHeld(slot) && !slices", "if !slices"}},
		Killers: []string{"119-semaphore/in-order"},
	},
	{
		Name:    "first-permit-first",
		Bug:     "all clients begin to look with the first permit",
		Edits:   []Edit{{"redlock/semaphore/look.go", "add((int(first) + i) % len(s.slots))", "add(i % int(max(1, first+1, uint64(len(s.slots)))))"}},
		Tests:   []Test{{"redlock/semaphore", "TestOrderIsRandom"}},
		Killers: nil,
	},
	{
		Name:    "no-turn-for-other-semaphores",
		Bug:     "a client with many goroutines never pauses, and others get no permit",
		Edits:   []Edit{{"redlock/semaphore/pace.go", "case p.inARow >= localGrants:", "case p.inARow >= localGrants && false:"}},
		Killers: []string{"119-semaphore/turns"},
	},
	{
		Name:    "gives-way-with-all-permits",
		Bug:     "a client pauses while it holds all permits, when nobody else can have one",
		Edits:   []Edit{{"redlock/semaphore/pace.go", "case s.holdsAll():", "case s.holdsAll() && p.inARow < localGrants:"}},
		Tests:   []Test{{"redlock/semaphore", "TestGivingWay"}},
		Killers: nil,
	},
	{
		Name:    "looks-without-a-pause",
		Bug:     "a call that finds no permit looks again at once",
		Edits:   []Edit{{"redlock/semaphore/pace.go", "left > 0 && !(p.polls && p.news)", "left > 0 && !p.polls"}},
		Killers: []string{"119-semaphore/contention", "119-semaphore/gives-up"},
	},
	{
		Name:    "news-of-a-permit-ignored",
		Bug:     "a permit that is given back does not cut the delay short",
		Edits:   []Edit{{"redlock/semaphore/pace.go", "left > 0 && !(p.polls && p.news)", "left > 0"}},
		Killers: []string{"119-semaphore/one-held-elsewhere"},
	},
	{
		Name:    "pause-of-each-caller",
		Bug:     "the first that waits looks at once when the one before it has given up, although the delay is not over",
		Edits:   []Edit{{"redlock/semaphore/pace.go", "s.pace.until, s.pace.polls = s.clock.Now().Add(delay), true", "s.pace.until, s.pace.polls = s.clock.Now().Add(delay/8), true"}},
		Killers: []string{"119-semaphore/callers-give-up"},
	},
}
