package redis

// Service is a program that runs on the machine of a node in the place of Redis, for lock protocols of other systems. It
// runs the same on all tiers.
type Service interface {
	// Stopped is called when the node's process ends, Started when it starts again. What the service keeps between the
	// two is what it had on its disk.
	Stopped()
	Started()
}

// Host has the node run the service from now on. Requests reach it as a Serving.
func (s *Server) Host(service Service) { s.services = append(s.services, service) }
