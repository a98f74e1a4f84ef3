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
If a client is told that replicas have confirmed its lock, that many have acknowledged it, of a quorum of nodes. (*redlock* and
*one-redis* with replicas, until a failover or until a node stops.)`,
	New: watchReplicated,
}

// replicated watches that replicas have acknowledged what a client is told that they confirm (redlock.WithReplicas): as many
// grants and extends of a value as it is told of. After a failover, or once a node has stopped, nothing is judged.
type replicated struct {
	*watch
	replicas, quorum int // that must confirm, of so many nodes
	// writes are the places of the writes of each value in what a master tells its replicas, and told is how many of them the
	// client was told of.
	writes map[onMaster][]uint64
	told   map[string]int
}

// onMaster is a value on a node.
type onMaster struct {
	*redis.Server
	value string
}

func watchReplicated(r *watch) {
	n := protocols.Of[protocols.RedlockSettings](r.Lock).Replicas
	if r.Foreign || n == 0 {
		return
	}
	quorum, _ := r.Lock.Votes(len(r.World.Servers))
	x := &replicated{watch: r, replicas: n, quorum: quorum, writes: map[onMaster][]uint64{}, told: map[string]int{}}
	r.onApplied(x.applied)
	r.onStep(x.stepped, observe.Granted, observe.Extended)
}

func (r *replicated) applied(a *redis.Applied) {
	at, place := onMaster{a.Server, a.After.Value}, a.Server.Offset()+1 // once the command is over
	before := r.writes[at]
	if a.Removed() || a.Before == a.After || len(before) > 0 && before[len(before)-1] == place { // another key of the same lock
		return
	}
	r.writes[at] = append(before, place)
}

func (r *replicated) stepped(client string, e *observe.Event) {
	r.told[e.Value]++
	nodes := 0
	for _, master := range r.World.Servers {
		if !isCalm(master) {
			return
		}
		writes := r.writes[onMaster{master, e.Value}]
		if len(writes) == 0 {
			continue
		}
		last := writes[min(r.told[e.Value], len(writes))-1] // an extend that changes nothing is no write
		if master.Confirmed(min(last, master.Offset())) >= r.replicas {
			nodes++
		}
	}
	r.judged++
	if nodes < r.quorum {
		r.broken(e.Resource, "%s is told that its lock is %v, which %d replicas have confirmed of %d nodes, and it takes %d", client, e.Step,
			r.replicas, nodes, r.quorum)
	}
}

// isCalm says that a master and its replicas have been that from the beginning, without a stop.
func isCalm(master *redis.Server) bool {
	return !slices.ContainsFunc(master.Group(), func(s *redis.Server) bool {
		return s.Restarted() || !s.Up() || s.IsReplica() == (s == master)
	})
}
