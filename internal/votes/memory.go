package votes

// Memory is what a node holds, in a map. The zero value holds nothing, and nobody listens to it.
type Memory struct {
	// Run is the node's run id.
	Run string
	// Tell sends a message to those who listen on a channel, and counts them; nil if nobody does.
	Tell func(channel, message string) (listeners int)

	keys map[string]Key
}

// Get implements Keys. Redis drops a key when its clock reads more than until.
func (m *Memory) Get(key string, now int64) (k Key, there bool) {
	k, there = m.keys[key]
	return k, there && (k.Until == 0 || now <= k.Until)
}

// Set implements Keys.
func (m *Memory) Set(key, value string, until int64) {
	if m.keys == nil {
		m.keys = map[string]Key{}
	}
	m.keys[key] = Key{Value: value, Until: until}
}

// Delete implements Keys.
func (m *Memory) Delete(key string) { delete(m.keys, key) }

// Forget deletes the keys of which something is so.
func (m *Memory) Forget(is func(key string) bool) {
	for key := range m.keys {
		if is(key) {
			delete(m.keys, key)
		}
	}
}

// Publish implements Keys.
func (m *Memory) Publish(channel, message string) int {
	if m.Tell == nil {
		return 0
	}
	return m.Tell(channel, message)
}

// RunID implements Keys.
func (m *Memory) RunID() string { return m.Run }
