package rules

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

var replicatedRule = Rule{
	Name:  "replicated",
	Kind:  checker.Contract,
	Needs: "a lock that replicas have confirmed",
	Doc: `
If a client is told that replicas have confirmed its lock, that many have acknowledged it. (*one-redis* with replicas, until a
failover or until a node stops.)`,
	New: watchReplicated,
}

// replicated watches that replicas have acknowledged what a client is told that they confirm (redlock.WithReplicas): as many
// grants and extends of a value as it is told of. After a failover, or once a node of the group has stopped, nothing is judged.
type replicated struct {
	*watch
	replicas int // that must confirm
	// writes are the places of the writes of each value in what the master tells its replicas, and told is how many of them the
	// client was told of.
	writes map[string][]uint64
	told   map[string]int
}

func watchReplicated(r *watch) {
	n := protocols.Of[protocols.OneRedisSettings](r.Lock).Replicas
	if r.Foreign || n == 0 {
		return
	}
	x := &replicated{watch: r, replicas: n, writes: map[string][]uint64{}, told: map[string]int{}}
	r.onApplied(x.applied)
	r.onStep(x.stepped, observe.Granted, observe.Extended)
}

func (r *replicated) applied(a *redis.Applied) {
	value, place := a.After.Value, a.Server.Offset()+1 // once the command is over
	before := r.writes[value]
	if a.Removed() || a.Before == a.After || len(before) > 0 && before[len(before)-1] == place { // another key of the same lock
		return
	}
	r.writes[value] = append(before, place)
}

func (r *replicated) stepped(client string, e *observe.Event) {
	r.told[e.Value]++
	writes := r.writes[e.Value]
	master := r.World.Servers[0]
	if len(writes) == 0 || !isCalm(master) {
		return
	}
	last := writes[min(r.told[e.Value], len(writes))-1] // an extend that changes nothing is no write
	r.judged++
	if n := master.Confirmed(min(last, master.Offset())); n < r.replicas {
		r.broken(e.Resource, "%s is told that its lock is %v, which %d replicas of %s have confirmed, and it asks for %d", client, e.Step, n,
			master.Name(), r.replicas)
	}
}

// isCalm says that a master and its replicas have been that from the beginning, without a stop.
func isCalm(master *redis.Server) bool {
	return !slices.ContainsFunc(master.Group(), func(s *redis.Server) bool {
		return s.Restarted() || !s.Up() || s.IsReplica() == (s == master)
	})
}
