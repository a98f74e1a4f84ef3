package redis

import (
	"slices"
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
	if c.deployment.told.IsRead() {
		batch = slices.Clone(batch)
		for i := range batch {
			batch[i] = c.telling(batch[i])
		}
	}
	c.Node.Do(batch)
}

// telling is a command whose reply is told of before the library takes it.
func (c *counted) telling(command *driver.Command) *driver.Command {
	o := *command
	o.Done = func(_ *driver.Command, r driver.Reply) {
		c.deployment.told.Tell(Told{c.client.Name(), c.Name(), command, r})
		command.Done(command, r)
	}
	return &o
}

// ConfirmsReplicas implements driver.Replicated.
func (c *counted) ConfirmsReplicas() {}

// Listen implements driver.Listener.
func (c *counted) Listen(channel string, received func(message string)) (stop func()) {
	d, by := c.deployment, listener{c.client, channel}
	d.listening[by]++
	stops := c.Node.(driver.Listener).Listen(channel, func(message string) {
		d.counts.Notified++
		d.notified.Tell(Notified{c.client, message})
		received(message)
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
