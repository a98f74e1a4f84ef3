package rules

import (
	"slices"

	"redlocksim/sim/kernel"
)

// crowds tell when so many attempts to get a lock met that none of them may have got enough votes, by what the nodes voted. Of
// fewer, one gets the lock: each node that both have asked has voted for one of them.
type crowds struct {
	*Run
	least int // how many attempts must meet for that
	of    map[string]*meetings
}

// meetings are those of the attempts to set a key.
type meetings struct {
	known []*meeting  // that are not over, or have been for less than two node timeouts
	since kernel.True // when the last crowd was over
}

// meeting is an attempt that has got a vote, with those whose time overlaps with its own: from the sending of its first request
// until its last vote is gone.
type meeting struct {
	*entry
	began, ended kernel.True // kernel.Forever while it goes on
	others       []*meeting  // until they are enough for a crowd
	isCrowd      bool
	isCrowded    bool // it is a crowd with those, or has met one that is
}

func watchCrowds(r *Run, least int) *crowds {
	c := &crowds{Run: r, least: least, of: map[string]*meetings{}}
	r.onChanged(c.changed)
	return c
}

func (c *crowds) changed(a *change) {
	m := c.of[a.Key]
	if m == nil {
		m = &meetings{}
		c.of[a.Key] = m
	}
	c.look(m)
	if a.entry == nil || !a.sets() || slices.ContainsFunc(m.known, func(of *meeting) bool { return of.entry == a.entry && of.ended == kernel.Forever }) {
		return
	}
	one := &meeting{entry: a.entry, began: a.Sent, ended: kernel.Forever}
	for _, other := range m.known {
		if other.ended >= one.began {
			one.meets(other, c.least)
			other.meets(one, c.least)
		}
	}
	m.known = append(m.known, one)
	c.look(m)
}

// meets takes another attempt whose time overlaps. All that have met one that is a crowd are crowded.
func (of *meeting) meets(other *meeting, least int) {
	if of.isCrowd {
		other.isCrowded = true
		return
	}
	if of.others = append(of.others, other); len(of.others)+1 < least {
		return
	}
	of.isCrowd, of.isCrowded = true, true
	for _, o := range of.others {
		o.isCrowded = true
	}
	of.others = nil
}

// look finds out which attempts are over: their keys were deleted, or have expired.
func (c *crowds) look(m *meetings) {
	now := c.World.Kernel.Now()
	for _, of := range m.known {
		if of.ended != kernel.Forever && of.ended <= now {
			continue
		}
		if isThere := slices.ContainsFunc(of.nodes, func(n onNode) bool { return n.isThere && n.until > now }); !isThere {
			of.ended = now
		}
	}
	m.known = slices.DeleteFunc(m.known, func(of *meeting) bool {
		if of.isCrowded && of.ended != kernel.Forever {
			m.since = max(m.since, of.ended)
		}
		return of.ended != kernel.Forever && now.Sub(of.ended) > 2*c.Lock.NodeTimeout
	})
}

// over is when the last crowd was over that asked for a key; kernel.Forever if one does now.
func (c *crowds) over(key string) kernel.True {
	m := c.of[key]
	if m == nil {
		return 0
	}
	c.look(m)
	if slices.ContainsFunc(m.known, func(of *meeting) bool { return of.isCrowded && of.ended == kernel.Forever }) {
		return kernel.Forever
	}
	return m.since
}
