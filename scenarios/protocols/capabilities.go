package protocols

import "time"

// Capabilities are what the locks of a protocol can do and need, for callers that would have to know its name otherwise.
type Capabilities struct {
	// KeysOnly says that it keeps nothing on a node but keys. A search of all orders then sees which requests change nothing,
	// and is shorter.
	KeysOnly bool
	// AllAtOnce says that it asks all nodes for their votes at the same time.
	AllAtOnce bool
	// Reentrant says that a client which has the lock is granted it again.
	Reentrant bool
	// LocksAll says that it takes one lock on several resources: its Locker is an AllLocker.
	LocksAll bool
	// Permits says that it has semaphores: its Locker has Semaphores.
	Permits bool
	// Keyless says that no key of a node stands for a lock, as where nodes give out permits by themselves.
	Keyless bool
	// Closes says that its clients can be closed: its Locker is a Closer.
	Closes bool
	// Cancels says that its calls end when their contexts do.
	Cancels bool
	// Repeats says that a lock which was released can be asked to be released or extended again, and refuses it.
	Repeats bool
	// Concurrent says that goroutines can make calls about one lease at once.
	Concurrent bool
	// Forgives says that a release may succeed although no node has the lock any more.
	Forgives bool
	// Lengthens says that an extend never shortens a lease or a key: one to a shorter TTL changes nothing.
	Lengthens bool
	// Renews says that it renews its locks by itself: its leases are Renewers, and its Locker is a Holder.
	Renews bool
	// Warns says that the context of a lease ends before the lease: its Lease is a Warner.
	Warns bool
	// Subscribes says that clients subscribe to channels of the nodes.
	Subscribes bool
	// Tokens says that its grants have fencing tokens.
	Tokens bool
	// Unit is the unit in which it counts time, if that is no finer than the TTL needs: a run that is faster than its scenario
	// does not make it shorter.
	Unit time.Duration
	// Agree says that the nodes send each other messages, to agree on who has the lock.
	Agree bool
	// Service is what runs on the nodes in the place of Redis, as a part of the simulator; empty for protocols on Redis.
	Service string
}

// Capabilities are those of the protocol with these settings.
func (s Settings) Capabilities() Capabilities {
	p, _ := Find(s.Protocol)
	c := p.Capabilities
	if own, chosen := s.own.(interface{ choose(*Capabilities) }); chosen {
		own.choose(&c)
	}
	return c
}
