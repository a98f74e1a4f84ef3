// Package networktest is one link for tests, on which messages and faults follow a script.
package networktest

import (
	"fmt"
	"strings"
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Rig is one link of latency 5 between a client and a server that answers at once. Times are nanoseconds.
type Rig struct {
	*kernel.Kernel
	Net   *network.Network
	Link  *network.Link
	Calls map[string]*Caller
	state network.Presence
	said  strings.Builder
}

// Caller is the client's end of one exchange, named by a letter.
type Caller struct {
	network.Exchange
	rig        *Rig
	name       string
	WhenBroken func()
}

// Purpose implements network.Purposeful.
func (c *Caller) Purpose() string { return c.name }

// Answered implements network.Client.
func (c *Caller) Answered() { c.rig.say("%s answered", c.name) }

// Broken implements network.Client.
func (c *Caller) Broken() {
	c.rig.say("%s broken", c.name)
	if c.WhenBroken != nil {
		c.WhenBroken()
	}
}

// New makes a Rig that tells trace of every step, if that is not nil.
func New(trace func(kernel.TraceStep)) *Rig {
	r := &Rig{Kernel: kernel.New(kernel.Config{Seed: 1, Trace: trace}), Calls: map[string]*Caller{}}
	r.Net = network.New(r.Kernel)
	client, server := r.NewProcess("client", kernel.Monotonic), r.NewProcess("server", kernel.Monotonic)
	r.Link = r.Net.Connect(client, server, network.Constant(5), func(x *network.Exchange) {
		r.say("%s arrives", x.Client().(*Caller).name)
		x.Reply()
	}, func() network.Presence { return r.state })
	return r
}

func (r *Rig) say(format string, args ...any) {
	fmt.Fprintf(&r.said, "%d %s; ", r.Now(), fmt.Sprintf(format, args...))
}

// Said is what has happened, with times, separated by semicolons.
func (r *Rig) Said() string { return strings.TrimSuffix(r.said.String(), "; ") }

// Plan plans what is to happen: words such as "open a" behind their times, separated by semicolons. What happens to a noun in
// one step has its verbs separated by commas, as "20 resume,pause client": nothing comes between them.
func (r *Rig) Plan(script string) {
	for _, item := range strings.Split(script, "; ") {
		var at int64
		var verb, noun string
		if n, err := fmt.Sscanf(item, "%d %s %s", &at, &verb, &noun); n < 2 {
			panic(fmt.Sprint(item, ": ", err))
		}
		r.After(time.Duration(at), func() {
			for verb := range strings.SplitSeq(verb, ",") {
				r.Do(verb, noun)
			}
		})
	}
}

// directions are the nouns for the messages of one way or both.
var directions = map[string]network.Direction{"requests": network.Requests, "replies": network.Replies}

// Do does one thing of a script.
func (r *Rig) Do(verb, noun string) {
	way := directions[noun]
	switch verb {
	case "open":
		c := &Caller{rig: r, name: noun}
		r.Calls[noun] = c
		r.Link.Open(&c.Exchange, kernel.Key(0).WithString(noun), c)
	case "abandon":
		r.Calls[noun].Abandon()
	case "cut":
		r.Link.Cut(way)
	case "mend":
		r.Link.Mend(way)
	case "hold":
		r.Link.Hold(way)
	case "release":
		r.Link.Release(way)
	case "slow":
		r.Link.Delay(way, 10)
	case "quick":
		r.Link.Delay(way, -10)
	case "latency":
		r.Link.SetLatency(way, network.Constant(1))
	case "reset":
		r.Link.Reset()
	case "kill":
		r.state = network.Refusing
		r.Link.ServerDied()
	case "off":
		r.state = network.Silent
		r.Link.ServerVanished()
	case "up":
		r.state = network.Listening
	case "pause", "resume", "crash":
		p := map[string]*kernel.Process{"client": r.Link.Client(), "server": r.Link.Server()}[noun]
		map[string]func(){"pause": p.Pause, "resume": p.Resume, "crash": p.Crash}[verb]()
	default:
		panic("no verb " + verb)
	}
}
