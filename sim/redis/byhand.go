package redis

// Put sets a key of a node that is up by hand.
func (s *Server) Put(r Record) {
	s.BeforeWrite()
	s.memory.Put(r)
	s.changed()
	s.isOther()
}

// Evict removes the keys that are to go, as Redis does to make room. Its replicas learn of it.
func (s *Server) Evict(goes func(key string) bool) {
	var keys []string
	for _, r := range s.Dump() {
		if goes(r.Key) {
			keys = append(keys, r.Key)
		}
	}
	s.BeforeWrite()
	s.memory.Remove(keys)
	s.changed()
	s.isOther()
}
