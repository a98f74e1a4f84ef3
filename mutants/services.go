package mutants

// services lists the bugs of the services that some protocols talk to: a lock service and a database.
var services = []Mutant{
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
		Edits:   []Edit{{"sim/database/database.go", "taken && row.name != name {", "false && taken && row.name != name {"}},
		Killers: []string{"49-database-unique-index/contention", "49-database-unique-index/one-minute"},
	},
}
