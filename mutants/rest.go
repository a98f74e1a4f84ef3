package mutants

// ofTheRest lists those of the simulator's nodes, of the other protocols and services, and of the shared resource.
func ofTheRest() []Mutant {
	return []Mutant{
		{
			Name:    "release-by-del",
			Bug:     "the release of the model tier's nodes deletes whatever is there",
			Edits:   []Edit{{"sim/model/model.go", "case ok && r.value == c.Value:", "case ok:"}},
			Killers: []string{"09-contention"},
		},
		{
			Name:    "no-ttl",
			Bug:     "the model tier's nodes keep keys without an expiry",
			Edits:   []Edit{{"sim/model/model.go", "record{c.Value, now + ttl, s.server.Now()}", "record{c.Value, 0, s.server.Now()}"}},
			Killers: []string{"12-holder-dies/crash", "12-holder-dies/cut-off"},
		},
		{
			Name:    "deadlines-start-anew",
			Bug:     "the time to live of what a restarted node has on its disk begins again",
			Edits:   []Edit{{"sim/model/model.go", "record{value: r.Value, expiresAt: r.ExpiresAt}", "record{value: r.Value, expiresAt: r.ExpiresAt + 20_000}"}},
			Killers: []string{"27-crash-after-set/shutdown"},
		},
		{
			Name:    "guard-off",
			Bug:     "the restart guard does not compare the run of the server",
			Edits:   []Edit{{"sim/model/conditions.go", "case found != run:", "case found != run && false:"}},
			Killers: []string{"29-restart-guard", "30-restart-guard-and-clock-steps/forward", "30-restart-guard-and-clock-steps/backward"},
		},
		{
			Name:    "single-set-without-nx",
			Bug:     "the lock on a single instance is a SET without NX: whoever asks has it",
			Edits:   []Edit{{"scenarios/protocols/single.go", `"SET", resource, value, "NX", "PX"`, `"SET", resource, value, "PX"`}},
			Killers: []string{"05-single-instance/healthy"},
		},
		{
			Name:    "wait-not-looked-at",
			Bug:     "the client sends WAIT and does not look at how many replicas acknowledged",
			Edits:   []Edit{{"scenarios/protocols/failover.go", "case reply.Err == nil && n >= int64(w.Replicas):", "default:"}},
			Killers: []string{"07-failover-with-wait/saved"},
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
			Edits:   []Edit{{"scenarios/protocols/redisson.go", `redis("HINCRBY", keys[0], argv[2], "-1"); counter.(int64) > 0 {`, `redis("HINCRBY", keys[0], argv[2], "-1"); counter.(int64) > 9 {`}},
			Killers: []string{"44-redisson/reentrant"},
		},
		{
			Name:    "redisson-no-watchdog",
			Bug:     "the watchdog renews once and no more",
			Edits:   []Edit{{"scenarios/protocols/redisson.go", "if err := deleted(reply); err == nil {\n\t\tw.schedule()", "if err := deleted(reply); err == nil {"}},
			Killers: []string{"44-redisson/long-work"},
		},
		{
			Name:    "fair-stays-in-queue",
			Bug:     "a waiter of Redisson's fair lock that gives up stays in the queue",
			Edits:   []Edit{{"scenarios/protocols/redisson_fair.go", `redis("LREM", keys[0], "0", argv[0])`, `redis("EXISTS", keys[0])`}},
			Killers: []string{"45-redisson-fair/gives-up"},
		},
		{
			Name:    "redisson-fair-barging",
			Bug:     "a fair lock that whoever asks can take while others wait",
			Edits:   []Edit{{"scenarios/protocols/redisson_fair.go", "redis(\"EXISTS\", lock) == any(int64(0)) && isNext {", "redis(\"EXISTS\", lock) == any(int64(0)) && (isNext || true) {"}},
			Killers: []string{"45-redisson-fair/dead-head"},
		},
		{
			Name:    "redisson-fair-tells-nobody",
			Bug:     "a release of a fair lock that is published where nobody listens",
			Edits:   []Edit{{"scenarios/protocols/redisson_fair.go", `channel+":"+head`, `channel+"-"+head`}},
			Killers: []string{"45-redisson-fair/in-order"},
		},
		{
			Name:    "redisson-multi-longer-belief",
			Bug:     "the client of a multi-lock counts on a tenth more than the lease time",
			Edits:   []Edit{{"scenarios/protocols/redisson_multi.go", "return start.Add(ttl), err", "return start.Add(ttl + ttl/10), err"}},
			Killers: []string{"46-redisson-multi/equal-rates"},
		},
		{
			Name:    "sessions-by-the-wall-clock",
			Bug:     "a lock service that times sessions by a clock that can be stepped",
			Edits:   []Edit{{"sim/consensus/node.go", "return n.clock.Now() }", "return time.Unix(0, int64(n.server.Clock().Wall())) }"}},
			Killers: []string{"47-consensus/clocks-and-restarts"},
		},
		{
			Name:    "new-leader-ends-sessions",
			Bug:     "a new leader does not give the sessions that it takes over their time, as etcd's lessor does",
			Edits:   []Edit{{"sim/consensus/node.go", "\t\tn.heard[name] = n.now()\n", "\t\tn.heard[name] = time.Time{}\n"}},
			Killers: []string{"47-consensus/clocks-and-restarts"},
		},
		{
			Name:    "sessions-never-end",
			Bug:     "a session outlives its client",
			Edits:   []Edit{{"sim/consensus/node.go", "if now.Sub(n.heard[name]) > n.state.sessions[name].ttl {", "if false && now.Sub(n.heard[name]) > n.state.sessions[name].ttl {"}},
			Killers: []string{"47-consensus/holder-dies", "47-consensus/paused-client"},
		},
		{
			Name:    "revision-per-session",
			Bug:     "the token is not the revision of the grant",
			Edits:   []Edit{{"sim/consensus/state.go", "l.owner, l.revision = l.queue[0], s.revision", "l.owner, l.revision = l.queue[0], 1"}},
			Killers: []string{"47-consensus/paused-client-fenced", "50-conditional-update"},
		},
		{
			Name: "commit-after-roll-back",
			Bug:  "a transaction that has lost its lock is committed all the same",
			Edits: []Edit{{"sim/database/database.go",
				"\tfor _, e := range t.writes {\n\t\te.Outcome = history.Failed\n\t\td.world.Record(e)\n\t}\n\td.end(t)\n", "\tdelete(d.locked, t.row)\n"}},
			Killers: []string{"48-database-row-lock/same-transaction", "48-database-row-lock/before-the-write"},
		},
		{
			Name:    "no-idle-timeout",
			Bug:     "a database that waits for a client for ever",
			Edits:   []Edit{{"sim/database/database.go", "d.clock.AfterFunc(idle, func() { d.rollBack(t) })", "d.clock.AfterFunc(idle, func() {})"}},
			Killers: []string{"48-database-row-lock/holder-dies", "48-database-row-lock/outside"},
		},
		{
			Name:    "no-row-lock",
			Bug:     "SELECT without FOR UPDATE",
			Edits:   []Edit{{"sim/database/database.go", "if d.locked[row] != nil {", "if false && d.locked[row] != nil {"}},
			Killers: []string{"48-database-row-lock/contention"},
		},
		{
			Name:    "no-unique-index",
			Bug:     "the table has no unique index",
			Edits:   []Edit{{"sim/database/unique.go", "taken && row.name != name {", "false && taken && row.name != name {"}},
			Killers: []string{"49-database-unique-index/contention", "49-database-unique-index/one-minute"},
		},
		{
			Name:    "table-takes-any-token",
			Bug:     "an UPDATE without its WHERE clause",
			Edits:   []Edit{{"sim/storage.go", "if e.Token <= c.token {", "if e.Token <= c.token && false {"}},
			Killers: []string{"50-conditional-update"},
		},
		{
			Name:    "one-fence-for-all",
			Bug:     "the storage compares tokens over all resources together",
			Edits:   []Edit{{"sim/storage.go", "c := s.cells[a.event.Resource]", "c := s.cells[\"\"]"}, {"sim/storage.go", "s.cells[a.event.Resource] = c", "s.cells[\"\"] = c"}},
			Killers: []string{"72-one-token-for-several-resources"},
		},
		{
			Name: "checker-sees-one-resource",
			Bug:  "the checker takes all resources for one",
			Edits: []Edit{
				{"checker/transcript.go", "resource: e.Resource, grant: e.Grant,", "resource: \"all\", grant: e.Grant,"},
				{"checker/transcript.go", "if e.Resource != \"\" && e.Resource != o.resource {", "if e.Resource == \"\\x00\" {"},
			},
			Killers: []string{"71-locks-on-several-resources/jump"},
		},
	}
}
