package monitor

import (
	"slices"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/sim/redis"
)

// conduct judges what reaches the nodes, by whose connection it came and by what it changed, and knows nothing of the lock that
// sent it. So it serves for any lock that speaks Redis.
type conduct struct {
	run    *Run
	owners map[held]string // who set it
}

// held is a value that a key of a node has or had.
type held struct {
	node, key, value string
}

func newConduct(r *Run) Monitor { return &conduct{run: r, owners: map[held]string{}} }

// Saw implements Monitor.
func (c *conduct) Saw(*history.Event) {}

// Over implements Monitor.
func (c *conduct) Over() {}

// Applied implements Monitor.
func (c *conduct) Applied(a redis.Applied) {
	if !slices.Contains(c.run.Resources, a.Key) {
		return
	}
	node, client := a.Server.Name(), a.Client.Name()
	if !a.Set() {
		if owner := c.owners[held{node, a.Key, a.Before.Value}]; owner != "" && owner != client {
			did := "changes"
			if a.Removed() {
				did = "deletes"
			}
			c.run.broken(checker.Conduct, a.Key, "%s %s the key of %s on %s", client, did, owner, node)
		}
	}
	if !a.Removed() && a.After.Value != a.Before.Value {
		c.owners[held{node, a.Key, a.After.Value}] = client
	}
}
