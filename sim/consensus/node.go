package consensus

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
	"redlocksim/sim/service"
)

// node is one node of the service. Its disk is what survives a restart; everything is on it before it is answered for.
// It keeps the whole log, whose length is bounded by that of the run.
type node struct {
	service *Service
	index   int
	server  *redis.Server
	clock   driver.Clock
	peers   []*service.Peer // by index; nil for itself
	disk    *raft.MemoryStorage

	raft      *raft.RawNode // nil while the node is down
	state     *state
	leads     bool
	waiting   map[uint64]*service.Call[Answer] // by the number of what this node has put forward; nil: its own
	heard     map[string]time.Time             // as leader: when each session was heard of last
	proposals uint64
	elections uint64
	election  driver.Timer
	ticks     driver.Timer
}

// entry is what stands in the log.
type entry struct {
	Request
	Node   int
	Number uint64
}

func newNode(s *Service, index int, server *redis.Server) *node {
	n := &node{service: s, index: index, server: server, clock: server.ProgramClock(), disk: raft.NewMemoryStorage()}
	members := &raftpb.ConfState{}
	for i := range s.world.Servers {
		members.Voters = append(members.Voters, id(i))
	}
	n.must(n.disk.ApplySnapshot(&raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{
		ConfState: members, Index: proto.Uint64(1), Term: proto.Uint64(1)}}))
	server.Host(n)
	return n
}

// id is how raft calls the node of an index.
func id(index int) uint64 { return uint64(index) + 1 }

func (n *node) connect() {
	for i, other := range n.service.nodes {
		if i == n.index {
			n.peers = append(n.peers, nil)
			continue
		}
		n.peers = append(n.peers, service.Connect(n.service.world.Deployment, n.server, other.server))
	}
}

func (n *node) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("consensus: node %s: %v", n.server.Name(), err))
	}
}

// never is a number of ticks that no run makes.
const never = 1 << 40

// Started implements redis.Service: the node reads its disk.
func (n *node) Started() {
	r, err := raft.NewRawNode(&raft.Config{ID: id(n.index), ElectionTick: never, HeartbeatTick: 1, Storage: n.disk,
		MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 1 << 10, DisableProposalForwarding: true, Logger: &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)}})
	n.must(err)
	n.raft, n.state, n.leads = r, newState(), false
	n.waiting, n.heard = map[uint64]*service.Call[Answer]{}, map[string]time.Time{}
	n.election = n.clock.AfterFunc(n.patience(), func() { n.elect(n.patience()) })
	n.ticks = n.clock.AfterFunc(heartbeat, n.tick)
	n.settle()
}

// Stopped implements redis.Service.
func (n *node) Stopped() {
	n.raft = nil
	n.election.Stop()
	n.ticks.Stop()
}

// patience is how long the node waits for a leader before it stands for election.
func (n *node) patience() time.Duration {
	n.elections++
	draw := n.server.Draw("election").With(n.elections)
	return electionMin + time.Duration(draw.Below(uint64(electionSpread)))
}

// elect stands for election, and sets when to try again.
func (n *node) elect(again time.Duration) {
	n.election.Reset(max(again, electionMin))
	if !n.leads {
		n.must(n.raft.Campaign())
		n.settle()
	}
}

// tick is the leader's heartbeat, and its look at the sessions.
func (n *node) tick() {
	n.ticks.Reset(heartbeat)
	n.raft.Tick()
	if n.leads {
		n.endSessions()
	}
	n.settle()
}

// now is what sessions are timed by.
func (n *node) now() time.Time { return n.clock.Now() }

// endSessions puts forward the end of those sessions that were not heard of for their time to live.
func (n *node) endSessions() {
	now := n.now()
	for _, name := range slices.Sorted(maps.Keys(n.state.sessions)) {
		if now.Sub(n.heard[name]) > n.state.sessions[name].ttl {
			n.propose(Request{Kind: expire, Session: name}, nil)
		}
	}
}

// take is given a request that has arrived.
func (n *node) take(r Request, c *service.Call[Answer]) {
	switch {
	case n.raft == nil:
		// It came in the moment in which the node went down.
	case !n.leads:
		c.Answer(Answer{Status: NotLeader, Leader: int(n.raft.BasicStatus().Lead) - 1})
	default:
		// From its receipt on: if it counted once it is committed, an end put forward meanwhile would come behind it.
		n.heard[r.Session] = n.now()
		n.propose(r, c)
		n.settle()
	}
}

func (n *node) propose(r Request, c *service.Call[Answer]) {
	n.proposals++
	n.waiting[n.proposals] = c
	data, err := json.Marshal(entry{Request: r, Node: n.index, Number: n.proposals})
	n.must(err)
	n.must(n.raft.Propose(data))
}

// receive is given a message of another node that has arrived.
func (n *node) receive(m *raftpb.Message) {
	if n.raft == nil {
		return
	}
	n.must(n.raft.Step(m))
	switch m.GetType() {
	case raftpb.MsgApp, raftpb.MsgHeartbeat, raftpb.MsgVote:
		// There is a leader, or somebody stands for election.
		n.election.Reset(n.patience())
	}
	n.settle()
}

// settle does what raft has made ready: write to the disk, then send, then apply.
func (n *node) settle() {
	for n.raft.HasReady() {
		ready := n.raft.Ready()
		if !raft.IsEmptyHardState(ready.HardState) {
			n.must(n.disk.SetHardState(proto.CloneOf(ready.HardState)))
		}
		n.must(n.disk.Append(ready.Entries))
		for _, m := range ready.Messages {
			to, message := n.service.nodes[m.GetTo()-1], proto.CloneOf(m)
			n.peers[to.index].Send(func() { to.receive(message) })
		}
		n.lead()
		for _, e := range ready.CommittedEntries {
			if len(e.Data) > 0 {
				n.apply(e.Data)
			}
		}
		n.raft.Advance(ready)
	}
	n.lead()
}

// lead notices that the node has become leader or is none any more. A new leader has heard of every session just now: it
// cannot know what the one before has heard.
func (n *node) lead() {
	leads := n.raft.BasicStatus().RaftState == raft.StateLeader
	if leads == n.leads {
		return
	}
	n.leads = leads
	n.waiting, n.heard = map[uint64]*service.Call[Answer]{}, map[string]time.Time{}
	for name := range n.state.sessions {
		n.heard[name] = n.now()
	}
}

func (n *node) apply(data []byte) {
	var e entry
	n.must(json.Unmarshal(data, &e))
	answer := n.state.apply(e.Request)
	call, own := n.waiting[e.Number]
	if !own || e.Node != n.index {
		// What was put forward before this node led, it hears of now.
		n.heard[e.Session] = n.now()
		return
	}
	delete(n.waiting, e.Number)
	if call != nil {
		call.Answer(answer)
	}
}
