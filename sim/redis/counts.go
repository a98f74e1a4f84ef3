package redis

import (
	"sync"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
)

// Counts are what happened in a run below the seams of the library, where no history tells of it.
type Counts struct {
	// Batches is how often the library handed a node several commands in one piece.
	Batches int
	// UnknownScripts is how often a node was asked for a script that it had forgotten (NOSCRIPT).
	UnknownScripts int
	// Published is how many messages nodes sent to subscribers, Notified how many the library was told of, and Unheard how many
	// were lost on their way.
	Published, Notified, Unheard int
}

// counted is a node of a client's library, with what the library is handed and told counted.
type counted struct {
	driver.Node
	deployment *Deployment
	client     *kernel.Process
}

// Do implements driver.Node.
func (c *counted) Do(batch []*driver.Command) {
	if len(batch) > 1 {
		c.deployment.counts.Batches++
	}
	if d := c.deployment.dialogue; d != nil {
		overheard := make([]*driver.Command, len(batch))
		for i := range batch {
			overheard[i] = d.overheard(c.client.Name(), c.Name(), batch[i])
		}
		batch = overheard
	}
	c.Node.Do(batch)
}

// ConfirmsReplicas implements driver.Replicated.
func (c *counted) ConfirmsReplicas() {}

// Listen implements driver.Listener.
func (c *counted) Listen(channel string, received func()) (stop func()) {
	d, by := c.deployment, listener{c.client, channel}
	d.listening[by]++
	stops := c.Node.(driver.Listener).Listen(channel, func() {
		d.counts.Notified++
		if d.heard != nil {
			d.heard(c.client, channel)
		}
		received()
	})
	return sync.OnceFunc(func() {
		d.listening[by]--
		stops()
	})
}

// listener is a client whose library listens to a channel.
type listener struct {
	client  *kernel.Process
	channel string
}

// Listening is on how many nodes the library of a client listens to a channel. A node counts as often as it does so.
func (d *Deployment) Listening(client *kernel.Process, channel string) int {
	return d.listening[listener{client, channel}]
}
