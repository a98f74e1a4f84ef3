package timeline

import "redlocksim/sim/network"

// Instant is a true time, in nanoseconds since the start of the run.
type Instant int64

// Timeline is a run as it is drawn. Lanes, spans, arrows and marks are in the order in which they are drawn, the spans,
// arrows and marks of a lane in the order in which they began.
type Timeline struct {
	Name   string `json:"name"`
	Title  string `json:"title"`
	Source string `json:"source"`
	// headline is what the run showed beside what was expected; see verdict.Result. isBroken: the lock does not hold.
	headline string
	isBroken bool
	// About is what the scenario says of itself, to a reader who does not know the literature.
	About string `json:"about"`
	// Verdict is what the run showed and Expected what the scenario expects, for people, and OK says that it was as expected.
	Verdict  string `json:"verdict"`
	Expected string `json:"expected"`
	OK       bool   `json:"ok"`
	// IsTrial says that somebody tries what a changed scenario shows: that it is not what it expects is no alarm.
	IsTrial bool `json:"-"`
	// IsOnOne says that the lock is on one node: there are no votes to be counted.
	IsOnOne bool `json:"isOnOne"`
	// Repeat is the command that makes the run again. Run names its tier and seed, and History is its hash, empty on
	// tier live.
	Repeat  string `json:"repeat"`
	Run     string `json:"run"`
	History string `json:"history"`

	// From and To are the stretch of the run that the timeline has; it is the whole run, up to the last thing that
	// happens, unless that would be too much to draw. Focus is what a picture that cannot be moved shows.
	From  Instant `json:"from"`
	To    Instant `json:"to"`
	Focus Stretch `json:"focus"`
	// Notes say what the timeline leaves out, a sentence each.
	Notes []string `json:"notes"`

	// Resources are what was locked, read or written, where that is more than one; empty otherwise.
	Resources []string `json:"resources,omitempty"`

	Lanes  []Lane  `json:"lanes"`
	Arrows []Arrow `json:"arrows"`
	Story  []Step  `json:"story"`
	// Violation is what breaks mutual exclusion or, if nothing does, keeps others from the lock without need; nil if there is
	// neither.
	Violation *Violation `json:"violation"`
}

// Stretch is from one instant to another.
type Stretch struct {
	From Instant `json:"from"`
	To   Instant `json:"to"`
}

// LaneKind is what a lane is of.
type LaneKind string

// The kinds of lanes. A replica is a node that no client knows of at first.
const (
	clientLane  LaneKind = "client"
	nodeLane    LaneKind = "node"
	replicaLane LaneKind = "replica"
	storageLane LaneKind = "storage"
)

// Lane is the line of one process.
type Lane struct {
	Name  string   `json:"name"`
	Kind  LaneKind `json:"kind"`
	Spans []Span   `json:"spans"`
	Marks []Mark   `json:"marks"`
	// Clocks are the deviations of its clocks, in order; empty if they are right all the time.
	Clocks []Reading `json:"clocks"`
}

// SpanKind is what a span says of its lane.
type SpanKind string

// The kinds of spans.
const (
	// askingSpan: the client has called acquire and was not answered.
	askingSpan SpanKind = "asking"
	// pollingSpan: it tries again and again, and is not granted the lock. The messages of these attempts are folded into it.
	pollingSpan SpanKind = "polling"
	// believedSpan: the client believes in its grant, as the checker judges.
	believedSpan SpanKind = "believed"
	// votesSpan: so many nodes keep the value of one of the client's acquires. It has the lock's Quorum or does not.
	votesSpan SpanKind = "votes"
	// actingSpan: from the first effect under a grant that the resource accepted to the last.
	actingSpan SpanKind = "acting"
	// keySpan: the node keeps a lock's key.
	keySpan SpanKind = "key"
	// otherSpan: it keeps a key that is no lock: a counter, a queue, a record. Listed at the cursor, and not drawn.
	otherSpan SpanKind = "other"

	pausedSpan    SpanKind = "paused"
	suspendedSpan SpanKind = "suspended"
	crashedSpan   SpanKind = "crashed"
	downSpan      SpanKind = "down"
	offSpan       SpanKind = "off"
	// cutSpan, heldSpan and slowSpan: messages with the process at the other end are lost, held back, or slower.
	cutSpan  SpanKind = "cut"
	heldSpan SpanKind = "held"
	slowSpan SpanKind = "slow"
)

// Span is a bar or a shade on a lane.
type Span struct {
	Kind SpanKind `json:"kind"`
	From Instant  `json:"from"`
	// To is the end of the run if it never ends; then Open is set.
	To   Instant `json:"to"`
	Open bool    `json:"open,omitempty"`
	// Owner is the lane of the client that a key or a window belongs to, from 0; -1 for nobody.
	Owner int `json:"owner"`
	// Grant is the number of the acquire that a window rests on; 0 for none.
	Grant int `json:"grant,omitempty"`
	// Resource is what a window or a lock's key is on, where the run has more than one; empty otherwise.
	Resource string `json:"resource,omitempty"`
	// Label is written into it, Text says all of it. Where there is no room for the Label, Short is written.
	Label string `json:"label"`
	Short string `json:"short,omitempty"`
	Text  string `json:"text"`
	// Quorum: the votes are enough for the lock.
	Quorum bool `json:"quorum,omitempty"`
	// Key, Left and Rate are those of a key: how long it has to live at From, in nanoseconds of the node's wall clock,
	// which runs Rate parts per billion fast. Left is 0 for a key without a time to live.
	Key  string `json:"key,omitempty"`
	Left int64  `json:"left,omitempty"`
	Rate int64  `json:"rate,omitempty"`
	// Row tells spans of a kind apart that overlap on a lane, from 0.
	Row int `json:"row,omitempty"`
}

// MarkKind is what happens at a mark.
type MarkKind string

// The kinds of marks.
const (
	// faultMark: something goes wrong with the process, or is mended.
	faultMark MarkKind = "fault"
	// acceptedMark and refusedMark: the resource accepts an effect of a client, or rejects it.
	acceptedMark MarkKind = "accepted"
	refusedMark  MarkKind = "refused"
	// crashMark: the client crashes.
	crashMark MarkKind = "crash"
)

// Mark is a moment on a lane.
type Mark struct {
	Kind  MarkKind `json:"kind"`
	At    Instant  `json:"at"`
	Label string   `json:"label"`
	// Sentence is what a fault does. It is written in place of the Label where there is room.
	Sentence string `json:"sentence,omitempty"`
	Text     string `json:"text"`
}

// Reading is by how much the clocks of a process are ahead of true time from At on, in nanoseconds. Both run Rate parts
// per billion fast; a monotonic clock that is Stopped stands still.
type Reading struct {
	At      Instant `json:"at"`
	Wall    int64   `json:"wall"`
	Mono    int64   `json:"mono"`
	Rate    int64   `json:"rate"`
	Stopped bool    `json:"stopped,omitempty"`
}

// Fate is what became of a message.
type Fate string

// The fates of messages; see network.Fate.
const (
	arrivedFate  Fate = "arrived"
	tooLateFate  Fate = "too-late"
	lostFate     Fate = "lost"
	underWayFate Fate = "under-way"
)

var fates = map[network.Fate]Fate{network.Arrived: arrivedFate, network.TooLate: tooLateFate, network.Lost: lostFate, network.UnderWay: underWayFate}

// Arrow is a message.
type Arrow struct {
	// From and To are lanes, from 0.
	From int `json:"from"`
	To   int `json:"to"`
	// Sent and Ended are when it was sent, and when it arrived or was lost; for a message that is under way, the end of
	// the run.
	Sent  Instant `json:"sent"`
	Ended Instant `json:"ended"`
	Fate  Fate    `json:"fate"`
	// IsReply tells replies, refusals and what is published from requests.
	IsReply bool `json:"reply,omitempty"`
	// Folded: it is one of many that a span stands for, and is drawn on demand only.
	Folded bool `json:"folded,omitempty"`
	// What it is, in words, and what it is lost to.
	What string `json:"what"`
	Why  string `json:"why,omitempty"`
}

// client is the lane that the exchange belongs to.
func (a *Arrow) client() int {
	if a.IsReply {
		return a.To
	}
	return a.From
}

// Step is a sentence of the story.
type Step struct {
	// Number is its place in the whole story, from 1.
	Number int     `json:"number"`
	At     Instant `json:"at"`
	Text   string  `json:"text"`
}

// Violation is what breaks mutual exclusion.
type Violation struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Resource is what it is on, where the run has more than one; empty otherwise.
	Resource string `json:"resource,omitempty"`
	// From and To enclose it; see checker.Finding. For two leases it is the time in which both were believed in.
	From Instant `json:"from"`
	To   Instant `json:"to"`
	// Windows are the witnesses, one or two.
	Windows []Witness `json:"windows"`
}

// Witness is a window that the violation rests on.
type Witness struct {
	Lane  int     `json:"lane"`
	Grant int     `json:"grant"`
	From  Instant `json:"from"`
	To    Instant `json:"to"`
}
