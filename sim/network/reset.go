package network

// Reset breaks every connection of the link: requests and replies under way are lost, and the client is told at once,
// as the next thing that happens.
func (l *Link) Reset() {
	l.epoch++
	k := l.network.k
	for x := l.lastOpen(); x != nil; x = x.prev {
		x.cut = true
		l.network.met = true
		x.from.Schedule(k.Now(), x.label(RefusalMessage), delivery{x, RefusalMessage})
	}
	l.changed()
}

// Resets counts how often all connections of the link have broken at once.
func (l *Link) Resets() int { return l.epoch }

// ServerDied tells the clients of a server whose process ended while its machine goes on: it resets its connections.
func (l *Link) ServerDied() {
	l.epoch++
	for x := l.lastOpen(); x != nil; x = x.prev {
		x.send(RefusalMessage)
	}
}

// ServerVanished forgets the connections of a server whose machine lost power: nobody tells the clients.
func (l *Link) ServerVanished() { l.epoch++ }

// lastOpen is the open exchange that began first.
func (l *Link) lastOpen() *Exchange {
	x := l.open
	for x != nil && x.next != nil {
		x = x.next
	}
	return x
}
