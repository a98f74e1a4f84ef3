package protocols

import (
	"errors"
	"testing"
)

// A protocol whose service is a part of the simulator says so to a client process outside of it, and Service says which
// these are.
func TestServicesAreInTheSimulator(t *testing.T) {
	for _, p := range All() {
		if p.Capabilities.Service == "" {
			continue
		}
		if _, err := p.New(Env{Settings: Default()}); !errors.Is(err, errSimulator) {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}
