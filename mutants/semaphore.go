package mutants

// semaphores lists the bugs of package semaphore, in the order of its files.
var semaphores = []Mutant{
	{
		Name: "a-permit-too-many",
		Bug:  "a semaphore has one permit more than it is made with",
		Edits: []Edit{
			{"redlock/semaphore/semaphore.go", "slots: make([]slot, permits)", "slots: make([]slot, permits+1)"},
		},
		Killers: []string{"119-semaphore/contention"},
	},
	{
		Name:    "permits-outlast-a-closed-client",
		Bug:     "a call that waits for a permit does not end when the client is closed",
		Edits:   []Edit{{"redlock/semaphore/look.go", "\treturn c, end, s.ofSemaphore(err)\n", "\tc.waiting = ctx\n\treturn c, end, s.ofSemaphore(err)\n"}},
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
		Edits:   []Edit{{"redlock/semaphore/slot.go", "\ts.mu.Unlock()\n\ts.queue.wake()", "\ts.mu.Unlock()"}},
		Killers: []string{"119-semaphore/in-order"},
	},
	{
		Name:    "permit-for-longer",
		Bug:     "a permit is asked for with another TTL than the caller's",
		Edits:   []Edit{{"redlock/semaphore/look.go", "slot.resource, c.ttl)", "slot.resource, 2*c.ttl)"}},
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
		Edits:   []Edit{{"redlock/semaphore/look.go", "e.Resource, e.Attempts = s.name, attempts", "e.Attempts = attempts"}},
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
		Edits:   []Edit{{"redlock/semaphore/look.go", "if !slot.isHeld() && !slices", "if !slices"}},
		Killers: []string{"119-semaphore/in-order"},
	},
	{
		Name:    "first-permit-first",
		Bug:     "all clients begin to look with the first permit",
		Edits:   []Edit{{"redlock/semaphore/look.go", "s.slots[(int(first)+i)%len(s.slots)]", "s.slots[i%int(max(1, first+1, uint64(len(s.slots))))]"}},
		Tests:   []Test{{"redlock/semaphore", "TestOrderIsRandom"}},
		Killers: nil,
	},
	{
		Name:    "no-turn-for-other-semaphores",
		Bug:     "a client with many goroutines never pauses, and others get no permit",
		Edits:   []Edit{{"redlock/semaphore/pace.go", "case p.inARow >= localGrants &&", "case p.inARow >= localGrants && false &&"}},
		Killers: []string{"119-semaphore/turns"},
	},
	{
		Name:    "no-turn-beside-another",
		Bug:     "what a client hands on counts only if it holds all permits",
		Edits:   []Edit{{"redlock/semaphore/slot.go", "return s.lease != nil || s.isElsewhere", "return s.lease != nil"}},
		Killers: []string{"119-semaphore/turns-beside"},
	},
	{
		Name:    "pause-too-short-for-others",
		Bug:     "a client pauses for the shortest delay, in which another need not look",
		Edits:   []Edit{{"redlock/semaphore/pace.go", "now.Add(s.max), false", "now.Add(s.min), false"}},
		Killers: []string{"121-read-write/handed-on"},
	},
	{
		Name: "gives-way-with-all-permits",
		Bug:  "a client pauses while it holds all permits, when nobody else can have one",
		Edits: []Edit{
			{"redlock/semaphore/pace.go", "case s.holdsAll():", "case s.holdsAll() && p.inARow < localGrants:"},
			{"redlock/semaphore/pace.go", "case p.inARow >= localGrants && !s.areAllGone():", "case p.inARow >= localGrants:"},
		},
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
	{
		Name:    "writers-wait-for-each-other",
		Bug:     "a writer takes permits before it is the only one that does",
		Edits:   []Edit{{"redlock/semaphore/all.go", `g.take(ctx, s.name+"/all")`, `g.take(ctx, s.name+"/1")`}},
		Killers: []string{"121-read-write/writers"},
	},
	{
		Name: "one-permit-after-the-other",
		Bug:  "a writer asks for the next permit when it has the one before",
		Edits: []Edit{{"redlock/semaphore/all.go", "\tfor i := range g.permits {\n\t\tg.tasks.Start(func() { g.hold(working, stop, &g.permits[i]) })\n\t}",
			"\tfor i := range g.permits {\n\t\tg.tasks.Start(func() { g.hold(working, stop, &g.permits[i]) })\n\t\tg.call.Wait(working)\n\t}"}},
		Killers: []string{"121-read-write/contention"},
	},
	{
		Name:    "writes-without-the-last-permit",
		Bug:     "a writer works when it has all permits but one",
		Edits:   []Edit{{"redlock/semaphore/all.go", "g.held == len(g.permits), g.refused", "g.held >= len(g.permits)-1, g.refused"}},
		Killers: []string{"121-read-write/contention"},
	},
	{
		Name:    "waiting-writer-does-not-renew",
		Bug:     "a writer renews what it has only when it has everything",
		Edits:   []Edit{{"redlock/semaphore/all.go", "p.err = g.granted(p.slot, lease).Hold(ctx, g.renewal, func", "p.err = g.granted(p.slot, lease).Hold(ctx, redlock.Renewal{Limit: 1, Period: g.ttl / 2}, func"}},
		Killers: []string{"121-read-write/long-reader"},
	},
	{
		Name:    "cancelled-work-without-permits",
		Bug:     "the permits are given back when the context of the work ends, although it goes on",
		Edits:   []Edit{{"redlock/semaphore/all.go", "\t\tg.wait(context.Background(), p.waiter)\n", ""}},
		Killers: []string{"121-read-write/cancelled"},
	},
	{
		Name:    "lost-permit-not-told",
		Bug:     "the work is not told that one of the permits was lost",
		Edits:   []Edit{{"redlock/semaphore/all.go", "\t\tstop(context.Cause(ctx))\n", ""}},
		Killers: []string{"121-read-write/one-lost"},
	},
	{
		Name:    "writer-gives-up-later",
		Bug:     "the longest time that a writer waits is only for the first lock",
		Edits:   []Edit{{"redlock/semaphore/all.go", "\tif !g.by.IsZero() {", "\tif !g.by.IsZero() && resource == g.name+\"/all\" {"}},
		Killers: []string{"121-read-write/gives-up"},
	},
	{
		Name:    "writer-leaves-without-its-tasks",
		Bug:     "a writer's call returns before all permits are given back",
		Edits:   []Edit{{"redlock/semaphore/all.go", "\tfor areRunning() {", "\tfor areRunning() && false {"}},
		Killers: []string{"121-read-write/contention"},
	},
}
