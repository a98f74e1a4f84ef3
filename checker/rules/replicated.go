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

// replicated watches that replicas have acknowledged what a client is told that they confirm (redlock.WithReplicas): the first
// write of a value for a grant, and the first since an extend began for that. After a failover, or once a node has stopped,
// nothing is judged.
type replicated struct {
	*watch
	replicas, quorum int // that must confirm, of so many nodes
	// writes are the places of the writes of each value in what a master tells its replicas.
	writes    map[onMaster][]uint64
	extending map[string]*extending
}

// extending is the extends of a value that are under way. Which of several an answer belongs to cannot be told.
type extending struct {
	open   int
	before map[*redis.Server]int // how many writes there were when the first of them began
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
	x := &replicated{watch: r, replicas: n, quorum: quorum, writes: map[onMaster][]uint64{}, extending: map[string]*extending{}}
	r.onApplied(x.applied)
	r.onStep(x.begins, observe.ExtendStarted)
	r.onStep(x.told, observe.Granted, observe.Extended)
	r.onStep(x.ends, observe.Extended, observe.NotExtended)
}

func (r *replicated) applied(a *redis.Applied) {
	at, place := onMaster{a.Server, a.After.Value}, a.Server.Offset()+1 // once the command is over
	before := r.writes[at]
	if a.Removed() || a.Before == a.After || len(before) > 0 && before[len(before)-1] == place { // another key of the same lock
		return
	}
	r.writes[at] = append(before, place)
}

func (r *replicated) begins(_ string, e *observe.Event) {
	x := r.extending[e.Value]
	if x == nil {
		x = &extending{before: map[*redis.Server]int{}}
		r.extending[e.Value] = x
	}
	if x.open++; x.open > 1 {
		return
	}
	for _, master := range r.World.Servers {
		x.before[master] = len(r.writes[onMaster{master, e.Value}])
	}
}

func (r *replicated) ends(_ string, e *observe.Event) {
	if x := r.extending[e.Value]; x != nil {
		x.open--
	}
}

func (r *replicated) told(client string, e *observe.Event) {
	nodes, before := 0, map[*redis.Server]int(nil)
	if x := r.extending[e.Value]; x != nil {
		before = x.before
	}
	for _, master := range r.World.Servers {
		if !isCalm(master) {
			return
		}
		writes := r.writes[onMaster{master, e.Value}]
		if len(writes) == 0 {
			continue
		}
		first := writes[min(before[master], len(writes)-1)] // an extend that changes nothing is no write
		if master.Confirmed(min(first, master.Offset())) >= r.replicas {
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
