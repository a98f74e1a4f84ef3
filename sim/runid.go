package sim

import "fmt"

// RunID is what INFO server gives as run_id: another for every start of the node.
func (s *Server) RunID() string {
	k := s.k.Draw("run-id").WithString(s.name).With(s.starts)
	return fmt.Sprintf("%016x%016x%08x", uint64(k.With(0)), uint64(k.With(1)), uint32(k.With(2)))
}
