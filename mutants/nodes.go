package mutants

// nodes lists the bugs of the simulated Redis nodes.
var nodes = []Mutant{
	{
		Name:    "release-by-del",
		Bug:     "the release of the model tier's nodes deletes whatever is there",
		Edits:   []Edit{{"internal/votes/votes.go", "case there && !k.IsOther && k.Value == c.Value:", "case there && !k.IsOther:"}},
		Killers: []string{"58-late-release", "84-late-messages/release"},
	},
	{
		Name:    "no-ttl",
		Bug:     "the model tier's nodes keep keys without an expiry",
		Edits:   []Edit{{"internal/votes/votes.go", "keys.Set(key, c.Value, until)", "keys.Set(key, c.Value, 0)"}},
		Killers: []string{"12-holder-dies/crash", "12-holder-dies/cut-off"},
	},
	{
		Name:    "deadlines-start-anew",
		Bug:     "the time to live of what a restarted node has on its disk begins again",
		Edits:   []Edit{{"sim/model/model.go", "\t\ts.keys[r.Key] = r\n", "\t\tr.ExpiresAt += 20_000\n\t\ts.keys[r.Key] = r\n"}},
		Killers: []string{"27-crash-after-set/shutdown"},
	},
	{
		Name:    "snapshot-as-it-is-killed",
		Bug:     "a process that makes snapshots writes one when it is killed",
		Edits:   []Edit{{"sim/redis/persistence.go", "return p == EverySecond || p == Always }", "return p != NoPersistence }"}},
		Killers: []string{"27-crash-after-set/snapshots-kill", "27-crash-after-set/snapshots-bring-back"},
	},
	{
		Name:    "no-snapshots",
		Bug:     "a snapshot is never made while the process runs",
		Edits:   []Edit{{"sim/redis/persistence.go", "if !d.changes || due > ran || d.changed == ran {", "if true {"}},
		Killers: []string{"27-crash-after-set/snapshots-power-loss-later", "27-crash-after-set/snapshots-bring-back"},
	},
	{
		Name:    "guard-off",
		Bug:     "the restart guard does not compare the run of the server",
		Edits:   []Edit{{"internal/votes/guard.go", "case found != run:", "case found != run && false:"}},
		Killers: []string{"29-restart-guard", "30-restart-guard-and-clock-steps/forward", "30-restart-guard-and-clock-steps/backward"},
	},
}
