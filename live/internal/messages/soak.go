package messages

import (
	"fmt"
	"time"
)

// SoakRole is what the process of a soak is told of itself.
type SoakRole struct {
	Name    string `json:"name"` // the beginning of its clients' names
	Index   int    `json:"index"`
	Clients int    `json:"clients"`
	// Goroutines is how many goroutines of each client take locks at the same time.
	Goroutines int      `json:"goroutines"`
	Locks      []string `json:"locks"`
	Settings   string   `json:"settings"` // as a scenario file
	Nodes      []string `json:"nodes"`    // the addresses of its proxies, in the scenario's order
	Seed       uint64   `json:"seed"`
}

// Workers are the names under which the process of that name takes locks: those of its clients or, if a client has several
// goroutines, of those, client by client.
func (r *SoakRole) Workers(name string) []string {
	var names []string
	for i := range r.Clients {
		client := fmt.Sprintf("%s-%d", name, i+1)
		if r.Goroutines == 1 {
			names = append(names, client)
			continue
		}
		for j := range r.Goroutines {
			names = append(names, fmt.Sprintf("%s/%d", client, j+1))
		}
	}
	return names
}

// LeaveTimeout is how long a process waits for what it has closed to end. A go-redis pool that could not reach its server
// leaves a probe behind for about a second.
const LeaveTimeout = 5 * time.Second

// Leftover is what a process has more than before it had any client.
type Leftover struct {
	Goroutines  int    `json:"goroutines"`
	Connections int    `json:"connections"`
	Stacks      string `json:"stacks,omitempty"` // of the goroutines, if there are any
}
