package rules

import (
	"strings"

	"redlocksim/checker"
	"redlocksim/sim/redis"
)

// watchNumber counts the commands that clients send to the nodes, where the algorithm is known to need no more than some. Those
// that share a script are one.
func watchNumber(r *Run) {
	sent := 0
	does := map[redis.Intent]string{redis.Sets: "set", redis.Extends: "extend", redis.Deletes: "delete"}
	r.onCommand(func(_ redis.Passage, a *redis.Asked) {
		if a.Shares || r.MaxCommands == 0 {
			return
		}
		r.Judged[checker.JudgeNumber]++
		if sent++; sent > r.MaxCommands {
			r.broken(checker.Conduct, r.about(a.Keys), "%s sends a command to %s to %s %s, number %d of a run that needs no more than %d",
				a.Client.Name(), a.Server.Name(), does[a.Intent], strings.Join(a.Keys, " and "), sent, r.MaxCommands)
		}
	}, redis.Sent)
}
