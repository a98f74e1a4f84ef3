package mutants

// ofTheLibrary lists those of package redlock.
func ofTheLibrary() []Mutant {
	return []Mutant{
		{
			Name: "no-wait-before-a-retry",
			Bug:  "a client that was refused asks again at once, and again", Real: "rueidis #602",
			Edits:   []Edit{{"redlock/lock.go", "until := c.clock.Now().Add(delay)", "until := c.clock.Now()"}},
			Killers: []string{"64-polling", "66-wake-up/polling"},
		},
		{
			Name: "start-of-the-first-attempt",
			Bug:  "the elapsed time counts from the first attempt, not from the one that wins", Real: "node-redlock #169, #274, #299",
			Edits: []Edit{
				{"redlock/validity.go", "type term struct{ ttl, drift time.Duration }", "type term struct {\n\tttl, drift time.Duration\n\tfirst      time.Time\n}"},
				{"redlock/lock.go", "t, err := c.term(ttl)", "t, err := c.term(ttl)\n\tt.first = c.clock.Now()"},
				{"redlock/attempt.go", "now.Sub(r.start)", "now.Sub(t.first)"},
			},
			Killers: []string{"39-renewal/finishes"},
		},
		{
			Name: "value-per-client",
			Bug:  "all locks of a client have the same value, so that a late unlock deletes a newer one", Real: "etcd #22082",
			Edits: []Edit{
				{"redlock/client.go", "lastTerm atomic.Pointer[term]", "lastTerm atomic.Pointer[term]\n\tvalue    atomic.Pointer[string]"},
				{"redlock/value.go", "var raw [valueBytes]byte", "if v := c.value.Load(); v != nil {\n\t\treturn *v, nil\n\t}\n\tvar raw [valueBytes]byte"},
				{"redlock/value.go", "return base64.RawURLEncoding.EncodeToString(raw[:]), nil",
					"value := base64.RawURLEncoding.EncodeToString(raw[:])\n\tc.value.Store(&value)\n\treturn value, nil"},
			},
			Killers: []string{"58-late-release"},
		},
		{
			Name:    "no-jitter",
			Bug:     "every delay before a retry is the same",
			Edits:   []Edit{{"redlock/value.go", "uint64(c.retryMax-c.retryMin) + 1", "uint64(1)"}},
			Killers: []string{"61-even-number-of-nodes"},
		},
		{
			Name: "no-second-reading",
			Bug:  "the validity is not checked after the acquire", Real: "node-redlock #296, #369",
			Edits:   []Edit{{"redlock/attempt.go", "validity := Validity(t.ttl, now.Sub(r.start), t.drift)", "validity := Validity(t.ttl, 0, t.drift)"}},
			Killers: []string{"31-slow-acquire/pause", "31-slow-acquire/delayed-replies"},
		},
		{
			Name: "clean-up-with-the-callers-context",
			Bug:  "the clean-up of an acquire uses the caller's context, which may have ended", Real: "redsync, open-match #1578",
			Edits: []Edit{{"redlock/attempt.go", "return &failure{err: err, claim: cl, release: cl.releaseAfter(r)}",
				"if ctx.Err() != nil {\n\t\treturn &failure{err: err, claim: cl}\n\t}\n\treturn &failure{err: err, claim: cl, release: cl.releaseAfter(r)}"}},
			Killers: []string{"53-caller-gives-up"},
		},
		{
			Name: "sequential",
			Bug:  "nodes are asked one after the other, without a timeout for each",
			Edits: []Edit{
				{"redlock/round.go", "deadline := r.start.Add(c.nodeTimeout)", "deadline := r.start.Add(time.Hour)"},
				{"redlock/round.go", "c.clock.AfterFunc(c.nodeTimeout, r.timeOut)", "c.clock.AfterFunc(time.Hour, r.timeOut)"},
				{"redlock/round.go", "\t\t\tnode.Do(batch[i : i+1 : i+1])\n",
					"\t\t\tnode.Do(batch[i : i+1 : i+1])\n\t\t\tfor r.op == OpAcquire && !r.hasAnswered(i) {\n\t\t\t\tr.waiter.Wait(context.Background())\n\t\t\t}\n"},
				{"redlock/round.go", "func (r *round) isSettled() bool {",
					"func (r *round) hasAnswered(i int) bool {\n\tr.claim.mu.Lock()\n\tdefer r.claim.mu.Unlock()\n\treturn r.ballot.answered.has(i)\n}\n\nfunc (r *round) isSettled() bool {"},
				{"redlock/round.go", "if decided {", "if decided || r.op == OpAcquire {"},
			},
			Killers: []string{"15-sequential-acquire/parallel-returns-at-quorum", "11-three-nodes-unreachable"},
		},
		{
			Name: "an-error-fails-the-acquire",
			Bug:  "an error of one node fails an acquire that has its quorum, and the keys remain", Real: "redlock-rb #129, redlock-py #27",
			Edits: []Edit{
				{"redlock/round.go", "\tcase r.ballot.reached(q):\n", "\tcase r.op == OpAcquire && r.ballot.answered != r.ballot.replied():\n\t\tr.settled, r.verdict = true, ErrNoQuorum\n\tcase r.ballot.reached(q):\n"},
				{"redlock/attempt.go", "return &failure{err: err, claim: cl, release: cl.releaseAfter(r)}",
					"if reason == ErrNoQuorum {\n\t\terr.Cause = reason\n\t\treturn &failure{err: err, claim: cl}\n\t}\n\treturn &failure{err: err, claim: cl, release: cl.releaseAfter(r)}"},
			},
			Killers: []string{"57-renewal-fails-once/three-nodes"},
		},
		{
			Name: "quorum-of-the-connected",
			Bug:  "the quorum is counted over the nodes that can be reached", Real: "redlock-py #6",
			Edits: []Edit{{"redlock/round.go", "n, q := len(r.outcomes), r.claim.client.quorum",
				"n := len(r.outcomes)\n\tq := Majority(n - r.ballot.answered.without(r.ballot.replied()).len())"}},
			Killers: []string{"11-three-nodes-unreachable"},
		},
		{
			Name:    "quorum-one-less",
			Bug:     "a quorum of N/2 nodes instead of N/2+1",
			Edits:   []Edit{{"redlock/quorum.go", "func Majority(n int) int { return n/2 + 1 }", "func Majority(n int) int { return n / 2 }"}},
			Killers: []string{"09-contention", "18-clock-jump-on-all-nodes-held/two-of-five"},
		},
		{
			Name: "waits-for-all",
			Bug:  "the decision waits for every node", Real: "redsync without fail-fast, node-redlock",
			Edits:   []Edit{{"redlock/quorum.go", "return b.accepted.len() >= quorum }", "return b.pending() == 0 && b.accepted.len() >= quorum }"}},
			Killers: []string{"10-two-nodes-crash"},
		},
		{
			Name: "half-is-not-lost",
			Bug:  "a round is lost only when a quorum has said no, so that votes split in halves are never decided", Real: "node-redlock with an even number of nodes",
			Edits:   []Edit{{"redlock/quorum.go", "return b.accepted.len()+b.pending().len() < quorum }", "return b.answered.len()-b.accepted.len() >= quorum }"}},
			Killers: []string{"61-even-number-of-nodes"},
		},
		{
			Name: "one-node-counted-twice",
			Bug:  "a node that votes for the first token and for the second is counted twice", Real: "redsync #190",
			Edits: []Edit{
				{"redlock/quorum.go", "asked    nodeSet\n", "asked    nodeSet\n\tbefore   int\n"},
				{"redlock/quorum.go", "return b.accepted.len() >= quorum }", "return b.before+b.accepted.len() >= quorum }"},
				{"redlock/fencing.go", "r.start = first.start", "r.start = first.start\n\tr.ballot.before = first.ballot.accepted.len()"},
			},
			Killers: []string{"63-votes-for-two-tokens"},
		},
		{
			Name: "no-drift",
			Bug:  "the validity ignores clock drift", Real: "rueidislock, Redisson",
			Edits:   []Edit{{"redlock/validity.go", "return ttl - elapsed - drift }", "return ttl - elapsed }"}},
			Killers: []string{"22-clock-rates/covered", "46-redisson-multi/redlock"},
		},
		{
			Name: "drift-added",
			Bug:  "the allowance for drift has the wrong sign", Real: "redlock-py #3, redsync #37",
			Edits:   []Edit{{"redlock/validity.go", "return ttl - elapsed - drift }", "return ttl - elapsed + drift }"}},
			Killers: []string{"22-clock-rates/covered"},
		},
		{
			Name: "elapsed-in-the-wrong-unit",
			Bug:  "the elapsed time is taken in the wrong unit, and nearly nothing is subtracted", Real: "RedLock.net #33",
			Edits:   []Edit{{"redlock/validity.go", "return ttl - elapsed - drift }", "return ttl - elapsed/time.Microsecond - drift }"}},
			Killers: []string{"31-slow-acquire/pause", "31-slow-acquire/delayed-replies"},
		},
		{
			Name: "no-partial-release",
			Bug:  "partial votes are not released before the retry, and block the client itself", Real: "node-redlock #369",
			Edits:   []Edit{{"redlock/release.go", "r.awaited = acquire.ballot.replied()", "r.ballot.asked = 0"}},
			Killers: []string{"13-split-votes"},
		},
		{
			Name: "releases-known-votes-only",
			Bug:  "a SET that timed out, and was applied, is not released", Real: "redlock-rb #76, #78",
			Edits: []Edit{
				{"redlock/release.go", "func (cl *claim) releaseAfter(acquire *round) *round {\n\tr := cl.newRound(OpRelease, 0, allNodes(len(cl.client.nodes)))",
					"func (cl *claim) releaseAfter(acquire *round) *round {\n\tr := cl.newRound(OpRelease, 0, acquire.ballot.accepted)"},
				{"redlock/release.go", "r.awaited = acquire.ballot.replied()", "r.awaited = acquire.ballot.accepted"},
			},
			Killers: []string{"55-replies-lost-once"},
		},
		{
			Name: "extend-counts-from-the-replies",
			Bug:  "the validity of an extend ignores how long it took", Real: "redsync #71",
			Edits:   []Edit{{"redlock/extend.go", "validity := Validity(t.ttl, now.Sub(r.start), t.drift)", "validity := Validity(t.ttl, 0, t.drift)"}},
			Killers: []string{"54-slow-extend"},
		},
		{
			Name: "extend-does-not-move-the-end",
			Bug:  "an extend prolongs the keys, and the lease ends when it would have", Real: "redsync #71",
			Edits:   []Edit{{"redlock/extend.go", "l.until, l.lead = until, lead", "l.lead = lead"}},
			Killers: []string{"57-renewal-fails-once/three-nodes"},
		},
		{
			Name: "an-error-of-an-extend-releases",
			Bug:  "an extend that fails on one node releases the others", Real: "redsync #151",
			Edits: []Edit{{"redlock/extend.go", "cl.observe(Event{Step: QuorumReached, Op: OpExtend, Accepted: r.votes, Quorum: c.quorum})",
				"cl.observe(Event{Step: QuorumReached, Op: OpExtend, Accepted: r.votes, Quorum: c.quorum})\n\tif r.ballot.answered != r.ballot.accepted {\n\t\tcl.releaseAll()\n\t}"}},
			Killers: []string{"57-renewal-fails-once/three-nodes"},
		},
		{
			Name: "one-failed-renewal-is-the-last",
			Bug:  "a lease is given up after one extend that failed", Real: "Redisson #775",
			Edits:   []Edit{{"redlock/extend.go", "if reason == ErrLost {", "if reason != nil {"}},
			Killers: []string{"57-renewal-fails-once/two-nodes"},
		},
		{
			Name: "loss-told-late",
			Bug:  "the holder is told of the loss after the lease is over, where the nodes are a black hole", Real: "rueidislock",
			Edits: []Edit{
				{"redlock/lease.go", "lead: min(c.lead(t.ttl), validity/2)", "lead: -validity / 2"},
				{"redlock/extend.go", "min(c.lead(t.ttl), validity/2)", "-validity/2"},
			},
			Killers: []string{"59-nodes-fall-silent"},
		},
		{
			Name: "renewal-tells-late",
			Bug:  "the loss of a lease that is renewed is told when a renewal finds out, not by the client's own clock", Real: "rueidislock",
			Edits:   []Edit{{"redlock/renew.go", "stop := l.renewing(working, r)", "l.timer.Stop()\n\tstop := l.renewing(working, r)"}},
			Killers: []string{"65-renewal-and-a-black-hole/black-hole", "65-renewal-and-a-black-hole/replies-only"},
		},
		{
			Name: "renewals-without-limit",
			Bug:  "the limit of renewals is ignored", Real: "every peer but pottery has none",
			Edits:   []Edit{{"redlock/renew.go", "if n == r.Limit {", "if n == Unlimited {"}},
			Killers: []string{"42-stuck-holder/limited"},
		},
		{
			Name: "renewal-after-the-release",
			Bug:  "renewals go on when the release has begun, and set the keys again", Real: "RedLock.net #64, Redisson #7272",
			Edits: []Edit{
				{"redlock/renew.go", "ctx, cancel := c.clock.WithCancel(ctx)", "ctx, cancel := c.clock.WithCancel(context.WithoutCancel(ctx))"},
				{"redlock/renew.go", "\t\tcancel(nil)\n\t\tfor !hasEnded() {", "\t\t_ = cancel\n\t\tfor false && !hasEnded() {"},
				{"redlock/extend.go", "if ended := l.state(); ended != nil {\n\t\treturn &Error{", "if ended := l.state(); ended != nil && ended != ErrReleased {\n\t\treturn &Error{"},
				{"sim/model/model.go", "case !ok || r.value != c.Value:", "case ok && r.value != c.Value:"},
				{"sim/model/model.go", "s.keys[key] = record{r.value, now + ttl, r.set}", "s.keys[key] = record{c.Value, now + ttl, r.set}"},
			},
			Killers: []string{"65-renewal-and-a-black-hole/after-release"},
		},
		{
			Name:    "release-tells-nobody",
			Bug:     "the release does not wake those who wait",
			Edits:   []Edit{{"redlock/release.go", "r.commands[i].Wake = cl.client.wakeSpread != 0", "r.commands[i].Wake = false"}},
			Killers: []string{"66-wake-up/told", "66-wake-up/many"},
		},
		{
			Name: "counts-on-the-message",
			Bug:  "a waiter counts on the message of the release alone", Real: "Redisson #5761",
			Edits:   []Edit{{"redlock/lock.go", "until := c.clock.Now().Add(delay)", "until := c.clock.Now().Add(delay)\n\tif told != nil {\n\t\tuntil = until.Add(time.Hour)\n\t}"}},
			Killers: []string{"66-wake-up/lost"},
		},
		{
			Name:    "all-at-once",
			Bug:     "all who are told of a release ask at the same time",
			Edits:   []Edit{{"redlock/wake.go", "return time.Duration(binary.LittleEndian.Uint64(raw[:]) % uint64(c.wakeSpread))", "return 0 * time.Duration(binary.LittleEndian.Uint64(raw[:]))"}},
			Killers: []string{"66-wake-up/many"},
		},
		{
			Name:    "guard-trusts-the-node",
			Bug:     "the restart guard believes the node's clock alone",
			Edits:   []Edit{{"redlock/guard.go", "now.Sub(q.since) >= g.MaxTTL", "now.Sub(q.since) >= 0"}},
			Killers: []string{"30-restart-guard-and-clock-steps/forward"},
		},
	}
}
