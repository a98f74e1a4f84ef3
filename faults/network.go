package faults

import (
	"fmt"
	"time"

	"redlocksim/sim/network"
)

// Partition loses all messages on some links, including those in flight. TCP would retransmit them until its connection is
// given up: use hold for a partition after which they arrive.
type Partition struct {
	Links `yaml:",inline"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 5s
	For time.Duration `yaml:"for" range:"0s.." from:"100ms" forever:"8"`
}

// CutOff is how histories name a partition that keeps all requests of a client from all Redis nodes: a holder that is cut
// off cannot release. A partition of several clients is recorded as such, and a cut-off for each of them after it.
const CutOff = "cut-off"

func (p *Partition) String() string { return fmt.Sprintf("messages %v are lost", &p.Links) }

// Inject implements Fault.
func (p *Partition) Inject(f *Field) error {
	undo := f.ground.Lose(&p.Links)
	switch {
	case !p.cutsOff(f.ground.Nodes()):
		f.happens(p, p.For)
	case p.client() != "":
		f.note(CutOff, p.client(), p.For, "%v", p)
	default:
		f.happens(p, p.For)
		clients := p.Clients
		if len(clients) == 0 {
			clients = f.ground.Clients()
		}
		for _, c := range clients {
			f.note(CutOff, c, p.For, "")
		}
	}
	f.until(p, p.For, undo, "messages %v get through again", &p.Links)
	return nil
}

func (p *Partition) live(_ Deployment, l *Live) { l.Silence = p.For }

// Hold keeps back the messages that arrive on some links, and later delivers them in order.
type Hold struct {
	Links `yaml:",inline"`
	// For is the length in true time. Example: 2s
	For time.Duration `yaml:"for,required" range:"1ns.." budget:"delay" from:"10ms" size:"the time for which messages are held back"`
}

func (h *Hold) String() string {
	return fmt.Sprintf("messages %v are held back for %v", &h.Links, h.For)
}

// Inject implements Fault. It delays by more than its length where another one overlaps, or what it holds was slowed, which
// its end shows.
func (h *Hold) Inject(f *Field) error {
	undo := f.ground.Hold(&h.Links)
	began := f.ground.Now()
	delays := func(d time.Duration) { f.uses(began, func(u *Used) { u.Delay = max(u.Delay, d) }) }
	delays(h.For)
	f.happens(h, h.For)
	f.lasts(h.For, func() {
		f.note(kindOf(h).Ends, h.client(), 0, "messages %v that were held back arrive", &h.Links)
		delays(undo())
	})
	return nil
}

func (h *Hold) live(_ Deployment, l *Live) { l.Silence = h.For }

// Delay slows the messages sent on some links.
type Delay struct {
	Links `yaml:",inline"`
	// By is added to each message's delay. Example: 50ms
	By time.Duration `yaml:"by,required" range:"1ns.." budget:"delay" from:"1ms"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 5s
	For time.Duration `yaml:"for" range:"0s.." from:"100ms"`
}

func (d *Delay) String() string { return fmt.Sprintf("messages %v take %v longer", &d.Links, d.By) }

// Inject implements Fault.
func (d *Delay) Inject(f *Field) error {
	most, undo := f.ground.Slow(&d.Links, d.By)
	f.uses(f.ground.Now(), func(u *Used) { u.Delay = max(u.Delay, most) })
	f.happens(d, d.By)
	f.until(d, d.For, undo, "messages %v are as fast as before", &d.Links)
	return nil
}

// What a master has not told its replicas yet is lost if it stops now: no sooner than it takes to stop it.
func (d *Delay) live(_ Deployment, l *Live) {
	l.Silence, l.Apart, l.Unhurried = d.By, d.By, len(d.Peers) > 0
}

// Reset breaks all connections of some links. What was in flight is lost, and the clients are told at once.
type Reset struct {
	Links `yaml:",inline"`
}

func (r *Reset) String() string { return fmt.Sprintf("connections %v are reset", &r.Links) }

// Inject implements Fault.
func (r *Reset) Inject(f *Field) error {
	f.happens(r, 0)
	f.ground.Reset(&r.Links)
	return nil
}

// In the simulator a reset breaks a subscription.
func (r *Reset) live(d Deployment, l *Live) {
	if d.Subscribes {
		l.Not = fmt.Sprintf("protocol %s subscribes, and after a reset go-redis subscribes again", d.Protocol)
	}
}

// Split makes batches arrive only in part on some links, as when a connection breaks in the middle. Of several requests
// that a client sends a node in one message, only the first arrive, or only their answers. A message with a single request
// arrives.
type Split struct {
	Links `yaml:",inline"`
	// Keep is how many requests, or answers, arrive of each batch: at least 1, since a partition loses all. Commands that share
	// a script are one request. Example: 1
	Keep int `yaml:"keep,required" range:"1.."`
	// Reset resets the connection behind what arrives, so the client learns at once that the rest is lost. Otherwise it
	// waits for the rest until its node timeout. Default: false. Example: true
	Reset bool `yaml:"reset"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 5s
	For time.Duration `yaml:"for" range:"0s.." from:"100ms" forever:"8"`
}

func (s *Split) String() string {
	kept, behind := "request gets", ""
	if s.Keep > 1 {
		kept = fmt.Sprintf("%d requests get", s.Keep)
	}
	if s.Reset {
		behind = ", and then the connection is reset"
	}
	return fmt.Sprintf("of batches %v only the first %s through%s", &s.Links, kept, behind)
}

func (s *Split) drawn(c Choices, _ *Limits) bool {
	s.Keep, s.Reset = 1+int(c.For("keep", 0).Below(3)), c.For("reset", 0).Below(2) == 1
	return true
}

// Inject implements Fault.
func (s *Split) Inject(f *Field) error {
	var mend []func()
	s.Each(f.ground, func(from, to string, d network.Direction) {
		mend = append(mend, f.simulated().Network.Link(from, to).Split(d, s.Keep, s.Reset))
	})
	f.during(s, s.For, func() {
		for _, m := range mend {
			m()
		}
	}, "batches %v get through whole again", &s.Links)
	return nil
}
