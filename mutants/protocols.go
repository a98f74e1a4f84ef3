package mutants

// implementedAnew lists the bugs of the other lock protocols.
var implementedAnew = []Mutant{
	{
		Name:    "one-redis-tokens-or-replicas",
		Bug:     "where tokens come from a sequence, no replica has to confirm the lock",
		Edits:   []Edit{{"scenarios/protocols/one_redis.go", "\tf.Replicas = own.Replicas\n", "\tif !own.Sequence {\n\t\tf.Replicas = own.Replicas\n\t}\n"}},
		Killers: []string{"113-what-helps-at-a-failover/sequence-and-replicas"},
	},
	{
		Name: "consensus-asks-at-once",
		Bug:  "a client in the queue of a lock service asks again as soon as it is answered", Real: "rueidis #602",
		Edits:   []Edit{{"scenarios/protocols/consensus.go", "\tx.env.Sleep(ctx, x.within(x.delay))\n", "\t_ = x.delay\n"}},
		Killers: []string{"47-consensus/holder-dies"},
	},
	{
		Name:    "single-set-without-nx",
		Bug:     "the lock on a single instance is a SET without NX: whoever asks has it",
		Edits:   []Edit{{"scenarios/protocols/redlock_plain.go", `"SET", l.keys[0], l.value, "NX", "PX"`, `"SET", l.keys[0], l.value, "PX"`}},
		Killers: []string{"03-release-by-del/overlong-work"},
	},
	{
		Name: "redisson-lost-wake-up",
		Bug:  "a waiter of Redisson's lock counts on the message of the release alone", Real: "Redisson #5761",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "left >= 0 && at.Before(deadline) {", "left < 0 && at.Before(deadline) {"}},
		Killers: []string{"44-redisson/lost-wake-up"},
	},
	{
		Name:    "redisson-releases-all",
		Bug:     "the first release of a re-entrant lock frees it",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "if (counter > 0) then", "if (counter > 9) then"}},
		Killers: []string{"44-redisson/reentrant"},
	},
	{
		Name:    "redisson-of-a-client",
		Bug:     "a re-entrant lock is its client's and not its thread's",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "x.started, x.env.Thread(ctx))", "x.started, 0*x.env.Thread(ctx))"}},
		Killers: []string{"44-redisson/threads"},
	},
	{
		Name:    "redisson-no-watchdog",
		Bug:     "the watchdog renews once and no more",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "if err := deleted(reply); err == nil {\n\t\tw.schedule()", "if err := deleted(reply); err == nil {"}},
		Killers: []string{"44-redisson/long-work"},
	},
	{
		Name:    "redisson-counts-one-hold",
		Bug:     "the watchdog ends with the first of two releases of a re-entrant lock",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "\t\tw.schedule()\n\t}\n\tw.holds++", "\t\tw.schedule()\n\t\tw.holds++\n\t}"}},
		Killers: []string{"44-redisson/reentrant-long-work"},
	},
	{
		Name:    "redisson-one-watchdog",
		Bug:     "a watchdog that has ended is taken for that of the next lock, which nothing renews",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "\tdelete(w.watchdogs, w.id)\n", ""}},
		Killers: []string{"44-redisson/another"},
	},
	{
		Name:    "redisson-stops-all",
		Bug:     "a release ends the watchdogs of all locks of the client",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "w.holds == 0 {\n\t\t\tw.end()", "w.holds == 0 {\n\t\t\tfor _, w := range x.watchdogs {\n\t\t\t\tw.end()\n\t\t\t}"}},
		Killers: []string{"44-redisson/another"},
	},
	{
		Name: "redisson-renews-whole-seconds",
		Bug:  "the watchdog cuts off the TTL to whole seconds", Real: "redis-py #370",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "redissonRenew, []string{w.resource}, milliseconds(w.ttl)", "redissonRenew, []string{w.resource}, milliseconds(w.ttl.Truncate(time.Second))"}},
		Killers: []string{"44-redisson/holder-dies"},
	},
	{
		Name:    "redisson-multi-keeps-half",
		Bug:     "a RedissonRedLock that was refused by too many nodes begins again and keeps what it has taken",
		Edits:   []Edit{{"scenarios/protocols/redisson_multi.go", "\t\t\tif failures == 0 {\n\t\t\t\tx.release(ctx, taken, resource, ttl)\n", "\t\t\tif failures == 0 {\n"}},
		Killers: []string{"46-redisson-multi/half-taken"},
	},
	{
		Name:    "fair-stays-in-queue",
		Bug:     "a waiter of Redisson's fair lock that gives up stays in the queue",
		Edits:   []Edit{{"scenarios/protocols/redisson_fair.go", "redis.call('lrem', KEYS[1], 0, ARGV[1])", "redis.call('exists', KEYS[1])"}},
		Killers: []string{"45-redisson-fair/gives-up"},
	},
	{
		Name:    "redisson-fair-barging",
		Bug:     "a fair lock that whoever asks can take while others wait",
		Edits:   []Edit{{"scenarios/protocols/redisson_fair.go", "redis.call('lindex', KEYS[2], 0) == ARGV[2]) then", "redis.call('lindex', KEYS[2], 0) ~= 0) then"}},
		Killers: []string{"45-redisson-fair/dead-head"},
	},
	{
		Name: "redisson-fair-tells-nobody",
		Bug:  "a release of a fair lock that is published where nobody listens",
		Edits: []Edit{{"scenarios/protocols/redisson_fair.go", "redis.call('del', KEYS[1])\nlocal head = redis.call('lindex', KEYS[2], 0)\nif head ~= false then\n  redis.call('publish', KEYS[4] .. ':'",
			"redis.call('del', KEYS[1])\nlocal head = redis.call('lindex', KEYS[2], 0)\nif head ~= false then\n  redis.call('publish', KEYS[4] .. '-'"}},
		Killers: []string{"45-redisson-fair/in-order"},
	},
	{
		Name:    "redisson-multi-leaves-one",
		Bug:     "a release of locks on several nodes leaves the last of them to run out",
		Edits:   []Edit{{"scenarios/protocols/redisson_multi.go", "err := l.all(l.locks, func(r *redisson) error { return r.unlock(", "err := l.all(l.locks[1:], func(r *redisson) error { return r.unlock("}},
		Killers: []string{"46-redisson-multi/multi-lock"},
	},
	{
		Name:    "redisson-multi-longer-belief",
		Bug:     "the client of a multi-lock counts on a tenth more than the lease time",
		Edits:   []Edit{{"scenarios/protocols/redisson_multi.go", "return start.Add(ttl), err", "return start.Add(ttl + ttl/10), err"}},
		Killers: []string{"46-redisson-multi/equal-rates"},
	},
	{
		Name:    "lost-is-taken",
		Bug:     "a release of a lock that was lost says that another has it, which callers take for a refused acquire",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "\t\treturn redlock.ErrLost\n\t}\n\treturn reply.Err", "\t\treturn redlock.ErrTaken\n\t}\n\treturn reply.Err"}},
		Killers: []string{"44-redisson/paused-holder"},
	},
	{
		Name:    "released-is-lost",
		Bug:     "a release that has taken the lock off says that the lock was lost",
		Edits:   []Edit{{"scenarios/protocols/redisson.go", "if reply.Err == nil && reply.Value == nil {\n\t\treturn redlock.ErrLost", "if reply.Err == nil {\n\t\treturn redlock.ErrLost"}},
		Killers: []string{"44-redisson/reentrant"},
	},
	{
		Name:  "delays-without-jitter",
		Bug:   "every delay between two attempts is the shortest",
		Edits: []Edit{{"scenarios/protocols/retry.go", "return d.Min + time.Duration(s.random(uint64(d.Max-d.Min)+1))", "return d.Min + 0*time.Duration(s.random(uint64(d.Max-d.Min)+1))"}},
		Tests: []Test{{"scenarios/protocols", "TestDelaysAreDrawnFromTheirRange"}},
	},
}
